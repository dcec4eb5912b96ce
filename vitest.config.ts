import { defineConfig } from 'vitest/config'
import { times } from './test/support/numbers'

/** Unit and integration tests: real PostgreSQL, two workers, a database of its own for every file. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/console.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // A process each would spend a quarter of the run on reading the same modules.
    isolate: false,
    testTimeout: times(20_000, 600_000),
    hookTimeout: 30_000,
    teardownTimeout: 15_000,
    expect: { requireAssertions: true },
  },
})
