"""The customers whose conversations the tests look at, and the staff who do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import Permission, User

from memory import Memory
from memory.models import Message, Resource, Thread, WorkingMemory
from tests.admin import conversation

PASSWORD = "correct horse battery staple"
# Midnight in Seoul.
START = datetime(2026, 3, 1, 15, tzinfo=UTC)
HOUR = timedelta(hours=1)

KOREAN = "주문 A-4711 전액환불 받고 싶어요."
CHINESE = "我要退款，请注销我的账号。"
FIRST_NOTE = "Prefers mail to calls."
NOTE = "Prefers calls."

# What the support person of these tests does, and what has to be seen for it.
RIGHTS = (
    "view_resource",
    "view_thread",
    "view_message",
    "view_workingmemory",
    "view_message_content",
    "use_recall_playground",
    "redact_message",
    "edit_working_memory",
    "export_resource",
    "erase_resource",
)
ALL_RIGHTS = ()


@dataclass(frozen=True)
class Desk:
    """Two customers.

    Attributes:
        jiwoo: speaks Korean; has a working memory of two versions.
        order: messages one an hour. `korean` is the only one with 환불, of which the title tells too.
        wei: speaks Chinese.
        account: six messages; `chinese` is the only one with 退款.
    """

    jiwoo: Resource
    order: Thread
    korean: Message
    wei: Resource
    account: Thread
    chinese: Message
    note: WorkingMemory

    @property
    def rows(self) -> dict[str, Any]:
        """A row of each kind, by the names of the models."""
        return {
            "resource": self.wei,
            "thread": self.account,
            "message": self.chinese,
            "workingmemory": self.note,
        }


def make_desk(before: int = 2, after: int = 3) -> Desk:
    """The customers, with so many messages `배송은 언제 오나요? <number>` before and after `korean`."""
    memory = Memory(working_memory={"enabled": True})
    for value in (FIRST_NOTE, NOTE):
        memory.update_working_memory(value, resource_id="jiwoo@example.org")
    talk = [f"배송은 언제 오나요? {number}" for number in range(before + 1 + after)]
    talk[before] = KOREAN
    order = conversation("order-4711", talk, "jiwoo@example.org", start=START, every=HOUR)
    talk = ["你好。", CHINESE, "好的，马上处理。", "谢谢。", "还有别的问题吗？", "没有了。"]
    account = conversation("account-wei", talk, "wei@example.org", start=START, every=HOUR)
    memory.update_thread(order.uid, title="주문 A-4711 전액환불")
    memory.update_thread(account.uid, title="注销账号")
    return Desk(
        jiwoo=order.resource,
        order=order,
        korean=order.messages.get(text=KOREAN),
        wei=account.resource,
        account=account,
        chinese=account.messages.get(text=CHINESE),
        note=WorkingMemory.objects.get(),
    )


def colleague(name: str, rights: tuple[str, ...] = ALL_RIGHTS) -> User:
    """A member of the staff, no superuser, with these rights of this app; by default with all of them."""
    user = User.objects.create_user(name, password=PASSWORD, is_staff=True)
    granted = Permission.objects.filter(content_type__app_label="memory")
    if rights:
        granted = granted.filter(codename__in=rights)
        assert granted.count() == len(rights)
    user.user_permissions.set(granted)
    return user
