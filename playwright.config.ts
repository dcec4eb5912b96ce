import { defineConfig } from 'playwright/test'
import { systemBrowser } from '#scripts/browser.mjs'

// Without these Chromium tries to reach hosts that a closed network does not have.
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const ALONE = /@alone/

/** End-to-end tests: the built app as `npm start` runs it, on ports and data of its own, in a real browser. */
export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  globalSetup: './test/support/e2e-setup.ts',
  outputDir: 'test-results',
  fullyParallel: true,
  workers: 2,
  retries: 0,
  forbidOnly: true,
  timeout: 30_000,
  expect: { timeout: 10_000 },
  // Whoever measures time, or changes what all share, runs when nobody else does.
  projects: [
    { name: 'together', grepInvert: ALONE },
    { name: 'alone', grep: ALONE, workers: 1, dependencies: ['together'] },
  ],
  use: {
    // The setup names it; the file is read again in every worker, after that.
    baseURL: process.env.SWITCHBOARD_URL,
    launchOptions: { executablePath: systemBrowser() ?? undefined, args: QUIET },
    screenshot: 'only-on-failure',
  },
})
