import { runWeb } from '#lib/api/web-process'

// The web process as it is, but for the pages, which need a build.
await runWeb(process.env, async () => null)
