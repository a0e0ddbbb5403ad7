"""The suite of `@mastra/client-js`, and the settings of the server it runs against."""
