/* Tells the server the zone of the viewer, in which it then shows times. */
"use strict";
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const kept = () => document.cookie.split("; ").includes(`memory_zone=${zone}`);
  if (!zone || kept()) {
    return;
  }
  document.cookie = `memory_zone=${zone}; path=/; max-age=31536000; samesite=lax`;
  // A page that shows times in another zone is asked for again, once, if the cookie stays.
  const shown = document.querySelector("[data-mem-zone]");
  if (shown && shown.dataset.memZone !== zone && kept()) {
    // Not a reload, after which browsers go back to where the page was scrolled to: it opens at its place.
    location.replace(location.href);
  }
})();
