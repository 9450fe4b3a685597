import { defineConfig } from 'vitest/config'

// The proofs run every way a thing can go wrong, one after the other; they take minutes and are
// run by themselves (`npm run prove`).
const isProof = process.env.PROVE === 'true'

export default defineConfig({
  test: {
    include: [isProof ? 'test/**/*.proof.ts' : 'test/**/*.test.ts'],
    globalSetup: ['test/support/dynamodb-local.ts'],
    setupFiles: ['test/support/environment.ts'],
    // A file of tests is a process of its own: the functions read their environment once.
    pool: 'forks',
    testTimeout: isProof ? 120_000 : 20_000,
    hookTimeout: 30_000,
    reporters: ['default', './test/support/closing-line.ts'],
  },
})
