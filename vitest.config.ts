import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/dynamodb-local.ts'],
    setupFiles: ['test/support/environment.ts'],
    // A file of tests is a process of its own: the functions read their environment once.
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 30_000,
    reporters: ['default', './test/support/closing-line.ts'],
  },
})
