import { defineConfig } from 'vitest/config'

// The processes of the test files share compiled modules.
process.env.NODE_COMPILE_CACHE ??= 'node_modules/.cache/compiled'

// Proofs are exhaustive or run commands as processes. They take minutes (`npm run prove`).
const isProof = process.env.PROVE === 'true'
// The flow tests on bundles, each in a process, instead of functions in the process of the test.
const isBundled = process.env.BUNDLES === 'true'
// The pages in Chromium (`npm run test:browser`).
const inBrowser = process.env.BROWSER === 'true'

const browserTests = 'test/browser/*.test.ts'
const files = isProof
  ? 'test/**/*.proof.ts'
  : inBrowser
    ? browserTests
    : isBundled
      ? 'test/flows/**/*.test.ts'
      : 'test/**/*.test.ts'

export default defineConfig({
  test: {
    include: [files],
    exclude: [
      ...(inBrowser ? [] : [browserTests]),
      // These need the functions in the process of the test: their log lines, rules or clock.
      ...(isBundled ? ['test/flows/{bank-outage,logs,request-ids}.test.ts'] : []),
    ],
    setupFiles: ['test/support/environment.ts', 'test/support/permissions/record.ts'],
    // The first gives each file its own modules of the service.
    sequence: { setupFiles: 'list' },
    globalSetup: [
      'test/support/permissions/folder.ts',
      ...(isProof ? ['test/support/dynamodb-local.ts'] : []),
      ...(isBundled ? ['test/support/bundles-folder.ts'] : []),
    ],
    unstubEnvs: true,
    pool: 'forks',
    // Without room for young objects, a tenth of the time is garbage collection.
    execArgv: ['--max-semi-space-size=64'],
    // The files of a process share the modules of packages: `environment.ts`.
    isolate: false,
    // Most tests wait rather than compute; Chromium has processes of its own.
    maxWorkers: inBrowser ? 2 : 4,
    // Concurrent tests of a file start a process each.
    maxConcurrency: 2,
    // Generous for busy machines.
    testTimeout: isProof ? 600_000 : inBrowser ? 180_000 : 60_000,
    hookTimeout: isProof ? 600_000 : 60_000,
    reporters: ['default', './test/support/closing-line.ts'],
  },
})
