import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { withVerdicts } from '../proofs/bench/figures.ts'
import { failureCodes } from '../shared/domain/banks/failure-code.ts'
import { exceptionKinds } from '../shared/domain/debits/exception.ts'
import { unsentRefunds } from '../shared/domain/debits/refund.ts'
import { debitUuid, type Reference } from '../shared/domain/ids.ts'
import { namesOf } from '../shared/domain/names.ts'
import { entryTypes } from '../shared/domain/settlement/ledger-entry.ts'

const FOLDERS = '{commands,console,functions,infra,proofs,sandbox,sdk,shared,test}'
const code = globSync(`${FOLDERS}/**/*.{ts,tsx,mjs,py}`, { exclude: ['sdk/*/dist/**'] })
const pages = [
  ...globSync('docs/*.md'),
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...globSync('sdk/*/README.md'),
]

const read = (file: string): string => readFileSync(file, 'utf8')

const withoutCode = (page: string): string => read(page).replaceAll(/^```.*?^```/gms, '')

/** Returns the first group of every match. */
const groups = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, group = '']) => group)

/**
 * Returns the anchors of a page: its own, and those that GitHub derives from headings. Duplicates get
 * -1, -2 and so on.
 */
const anchorsOf = (page: string): Set<string> => {
  const counts = new Map<string, number>()
  const anchors = groups(withoutCode(page), /^#+ (.+)$/gm).map((heading) => {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
  return new Set([...anchors, ...groups(read(page), /<a id="([^"]+)">/g)])
}

const isMissing = (target: string): boolean => {
  const [file = '', anchor] = target.split('#')
  return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).has(anchor))
}

/** Returns `file: target` for each target of a file that does not exist. */
const missing = (file: string, targets: string[]): string[] =>
  targets.filter(isMissing).map((target) => `${file}: ${target}`)

test('every page and anchor that code and docs cite exists', () => {
  const cited = /\b(docs\/[a-z-]+\.md(?:#[a-z0-9_-]+)?)/g
  expect([...code, ...pages].flatMap((file) => missing(file, groups(read(file), cited)))).toEqual(
    [],
  )
})

test('every relative link of the docs leads to a file and an anchor', () => {
  const broken = pages.flatMap((page) => {
    const links = groups(withoutCode(page), /\]\(([^)\s]+)\)/g).filter(
      (link) => !/^[a-z]+:/.test(link),
    )
    const targets = links.map((link) =>
      link.startsWith('#') ? `${page}${link}` : join(dirname(page), link),
    )
    return missing(page, targets)
  })
  expect(broken).toEqual([])
})

test('the READMEs of the packages have no link that leaves the package', () => {
  const links = globSync('sdk/*/README.md').flatMap((page) =>
    groups(read(page), /\]\(([^)\s]+)\)/g),
  )
  expect(links.filter((link) => !/^(?:#|[a-z]+:)/.test(link))).toEqual([])
})

test('each package has the licence of the service', () => {
  for (const file of ['sdk/typescript/LICENSE', 'sdk/python/LICENSE']) {
    expect(read(file)).toBe(read('LICENSE'))
  }
})

test('each duty of docs/compliance.md has a control with a proof, or is not met', () => {
  const [, table = ''] = /^## Duties\n\n((?:\|.*\n)+)/m.exec(read('docs/compliance.md')) ?? []
  const rows = table.trim().split('\n').slice(2)
  expect(rows.length).toBeGreaterThan(10)
  const isDecided = (row: string) => /`test\/[\w/-]+\.(?:test|proof)\.ts`|\*not met\*/.test(row)
  expect(rows.filter((row) => !isDecided(row))).toEqual([])
})

test('no anchor of docs/api.md is numbered', () => {
  expect([...anchorsOf('docs/api.md')].filter((anchor) => /-\d+$/.test(anchor))).toEqual([])
})

/** Expands `a/{b,c}.ts` to `a/b.ts` and `a/c.ts`. */
const expanded = (path: string): string[] => {
  const [, start = '', names, end = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? []
  return names ? names.split(',').map((name) => `${start}${name}${end}`) : [path]
}

test('each test that the README names exists', () => {
  const names = new Set(globSync('test/**/*.test.ts').map((file) => basename(file)))
  const named = groups(read('README.md'), /`([\w-]+\.test\.ts)`/g)
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !names.has(name))).toEqual([])
})

/** `NAME`, `NOUN` and `CALLER` stand for a name. */
test('each file of the code that the pages name exists', () => {
  const named = new RegExp(
    `\`((?:${FOLDERS.slice(1, -1).replaceAll(',', '|')})/[^\`\\s]+\\.\\w+)\``,
    'g',
  )
  const files = pages.flatMap((page) => groups(read(page), named)).flatMap(expanded)
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => !/NAME|NOUN|CALLER/.test(file) && !existsSync(file))).toEqual([])
})

test.each(['docs/api.md', 'docs/operators.md'])('the page %s names all exception kinds', (page) => {
  const text = read(page).toLowerCase()
  const isNamed = (kind: string) => text.includes(kind) || text.includes(kind.replaceAll('_', ' '))
  expect(namesOf(exceptionKinds).filter((kind) => !isNamed(kind))).toEqual([])
})

test('the page docs/operations.md has a row for each type of entry, and docs/api.md each failure code', () => {
  const [, table = ''] =
    /^\| Type \| When .*\n((?:\|.*\n)+)/m.exec(read('docs/operations.md')) ?? []
  expect(groups(table, /^\| `(\w+)`/gm).toSorted()).toEqual(namesOf(entryTypes).toSorted())
  const [, codes = ''] = /determines `error_details.code`:([^.]+)\./.exec(read('docs/api.md')) ?? []
  expect(groups(codes, /`(\w+)`/g)).toEqual([...failureCodes])
})

test('each refund that the service does not send has an action in docs/operators.md', () => {
  const actions = groups(read('docs/operators.md'), /^\| (the bank [a-z ]+) \| .+ \|$/gm)
  expect(actions.toSorted()).toEqual(Object.values(unsentRefunds).toSorted())
})

test('the verdicts of docs/benchmarks.md are those of the figures', () => {
  const page = read('docs/benchmarks.md')
  expect(page).toContain('| Cost of a debit ')
  expect(withVerdicts(page, read('proofs/bench/figures.md'))).toBe(page)
})

test('the uuid of a debit in an example is that of its reference', () => {
  const examples = pages.flatMap((page) =>
    read(page)
      .split('\n')
      .flatMap((line) => {
        const [reference] = groups(line, /"reference":"(DCS-[^"]+)"/g)
        const [uuid] = groups(line, /"uuid":"([0-9a-f-]{36})"/g)
        return reference && uuid ? [{ page, reference, uuid }] : []
      }),
  )
  expect(examples.length).toBeGreaterThan(2)
  const derived = examples.map((one) => ({ ...one, uuid: debitUuid(one.reference as Reference) }))
  expect(examples).toEqual(derived)
})

test('each log message that a page or the mail of an alarm names is in the code', () => {
  const texts = [...globSync('docs/*.md'), ...globSync('infra/definitions/*.ts')].map(read).join()
  const messages = groups(texts, /[`"]([a-z][a-z ]+)[`"]\s+in\s+(?:the|its)\s+log/g)
  expect(messages.length).toBeGreaterThan(9)
  const logged = code
    .filter((file) => !file.startsWith('test/'))
    .map(read)
    .join()
  expect(messages.filter((message) => !logged.includes(`'${message}`))).toEqual([])
})
