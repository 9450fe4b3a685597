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

// Their files change nothing of their process, so that they share its modules, such as the CDK's.
const sharedTests = [
  'test/{api,domain,infra,ledger,proofs}/**/*.test.ts',
  'test/console/!(server).test.ts',
  'test/sdk/openapi/*.test.ts',
]
const isPlain = !(isProof || isBundled || inBrowser)

const inherited = {
  setupFiles: ['test/support/environment.ts', 'test/support/permissions/record.ts'],
  // Functions read their environment once, so each file needs a process.
  pool: 'forks' as const,
  unstubEnvs: true,
  // Generous for busy machines.
  testTimeout: isProof ? 600_000 : inBrowser ? 180_000 : 60_000,
  hookTimeout: isProof ? 600_000 : 60_000,
}

export default defineConfig({
  test: {
    // Most tests wait rather than compute; Chromium has processes of its own.
    maxWorkers: inBrowser ? 2 : 3,
    // Concurrent tests of a file start a process each.
    maxConcurrency: 2,
    reporters: ['default', './test/support/closing-line.ts'],
    projects: [
      {
        test: {
          ...inherited,
          name: 'tests',
          include: [files],
          exclude: [
            ...(isPlain ? [...sharedTests, browserTests] : []),
            // These need the functions in the process of the test: their log lines, rules or clock.
            ...(isBundled
              ? ['test/flows/{bank-outage,logs,malicious-operator,request-ids}.test.ts']
              : []),
          ],
          globalSetup: [
            'test/support/permissions/folder.ts',
            ...(isProof ? ['test/support/dynamodb-local.ts'] : []),
            ...(isBundled ? ['test/support/bundles-folder.ts'] : []),
          ],
        },
      },
      ...(isPlain
        ? [{ test: { ...inherited, name: 'shared', include: sharedTests, isolate: false } }]
        : []),
    ],
  },
})
