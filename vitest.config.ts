import { defineConfig } from 'vitest/config'

// The proofs run every way a thing can go wrong, one after the other, and what is deployed or typed in
// processes of its own; they take minutes and are run by themselves (`npm run prove`).
const isProof = process.env.PROVE === 'true'

export default defineConfig({
  test: {
    include: [isProof ? 'test/**/*.proof.ts' : 'test/**/*.test.ts'],
    globalSetup: ['test/support/dynamodb-local.ts', 'test/support/permissions/folder.ts'],
    setupFiles: ['test/support/environment.ts', 'test/support/permissions/record.ts'],
    // A file of tests is a process of its own: the functions read their environment once.
    pool: 'forks',
    // Most of them wait for time to pass, not for a processor.
    maxWorkers: 3,
    // Those that run beside each other in one file start a process each.
    maxConcurrency: 2,
    // Generous: a busy machine is no reason to fail.
    testTimeout: isProof ? 600_000 : 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './test/support/closing-line.ts'],
  },
})
