import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { checkBooks } from '../../commands/restore-check/check.ts'
import { lakeQueries } from '../../infra/definitions/lake-queries.ts'
import type { Item } from '../../sandbox/aws/table/change.ts'
import { type ExportLine, readExports } from '../../sandbox/exported-table.ts'
import { DAY_MS, dayOf, HOUR_MS } from '../../shared/domain/time.ts'
import { newFolder } from '../support/folders.ts'
import { type Books, useRecordedBooks } from '../support/recorded-books.ts'
import type { Shown } from '../support/running-service.ts'
import {
  changesExport,
  fullExport,
  keyOf,
  type WrittenExport,
  writeExport,
  writeFile,
} from '../support/table-exports.ts'

/** Books that are rebuilt from exports of the table (docs/restore.md#lake). */

const books = useRecordedBooks()

let exports: WrittenExport[] = []
let original: Books
/** The nights of the books: a day is sealed at 02:00 UTC. */
let nights = 0
let copy = ''
/** Completed, reversed, and failed before its completion was reported. */
let debits: string[] = []

beforeAll(async () => {
  const { full, night, last, ...recorded } = await books.record()
  debits = recorded.debits
  original = last
  const nightsUntil = (of: Books) => Math.floor(lastNight(of).getTime() / DAY_MS)
  nights = nightsUntil(last) - nightsUntil(full)
  exports = [
    fullExport(full.items, full.at),
    changesExport(full, night),
    changesExport(night, last),
  ]
  copy = copyOf(exports)
})

/** Returns a time of the last night's day. */
const lastNight = ({ at }: Books): Date => new Date(at.getTime() - 2 * HOUR_MS)

const copyOf = (written: readonly WrittenExport[]): string => {
  const folder = newFolder()
  for (const one of written) writeExport(join(folder, 'lake'), one)
  for (const [key, { body }] of original.objects)
    writeFile(join(folder, 'audit'), key, Buffer.from(body, 'latin1'))
  return folder
}

/** Returns the problems of a copy, and the names of the checks without one. */
const check = async (folder: string) => {
  const found = { problems: [] as string[], ok: [] as string[] }
  const on = dayOf(lastNight(original))
  for await (const { name, problems } of checkBooks({ folder, on, days: nights })) {
    found.problems.push(...problems)
    if (problems.length === 0) found.ok.push(name)
  }
  return found
}

/** Returns the problems after a change of the lines, with manifests that agree with them. */
const afterChange = async (change: (lines: WrittenExport['lines']) => WrittenExport['lines']) => {
  const changed = exports.map(({ lines, ...one }) => ({
    ...one,
    lines: change(structuredClone(lines)),
  }))
  return (await check(copyOf(changed))).problems
}

const imageOf = ({ Item, NewImage }: ExportLine): Shown => Item ?? NewImage

const isOf = (line: ExportLine, pk: string, sk: string) => {
  const image = imageOf(line)
  return image?.pk?.S === pk && image.sk?.S === sk
}

const sorted = (items: readonly Item[]) => items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))

test('the rebuilt table equals the original, and its books and its audit agree', async () => {
  const { items, problems, until } = await readExports(join(copy, 'lake'))
  expect([problems, until]).toEqual([[], original.at])
  expect(sorted(items)).toEqual(sorted(original.items))
  const { problems: found, ok } = await check(copy)
  expect(found).toEqual([])
  expect(ok.join('\n')).toMatch(
    /debit completed 2 101\.00, .*debit failed 1 100\.00, debit reversed 1 50\.00/,
  )
  expect(ok.filter((name) => / audit ok$/.test(name))).toHaveLength(nights)
})

test.each([
  ['debit', () => `${debits[0]}: does not exist`],
  ['debit', () => `${debits[2]}: `],
  ['exception', () => `removed: journal late_completion#exception#`],
  ['refund', () => `${debits[1]}: is reversed, but has no refund`],
  ['lines', () => `${debits[0]}: is settled in `],
  ['batch', () => 'cash is 0.00 in the ledger, but -148.73 in the table'],
  ['funds', () => 'cash is 0.00 in the ledger, but 148.73 in the table'],
  ['ledger', () => 'removed: the closing balances of the ledger'],
  ['change', () => 'removed: changes '],
])('a removed item is named: %s', async (entity, expected) => {
  const own = original.items.filter((item) => item.entity === entity)
  const item = own.find(({ pk }) => expected().startsWith(pk.slice('DEBIT#'.length))) ?? own[0]
  const { pk, sk } = item as Item
  const problems = await afterChange((lines) => lines.filter((line) => !isOf(line, pk, sk)))
  expect(problems.join('\n')).toContain(expected())
})

test('an altered amount of a debit is named', async () => {
  const problems = await afterChange((lines) => {
    for (const line of lines) {
      const image = imageOf(line)
      if (image && isOf(line, `DEBIT#${debits[0]}`, 'DEBIT')) image.amount = { N: '90000' }
    }
    return lines
  })
  expect(problems.join('\n')).toContain(`${debits[0]}: `)
})

test('a missing file, an altered file and a missing night are named', async () => {
  const [, night, last] = exports as [WrittenExport, WrittenExport, WrittenExport]
  const keys = [night, last].map(({ id }) => `AWSDynamoDB/data/${id}-0.json.gz`)
  const [missing = '', altered = ''] = keys
  const folder = join(copyOf(exports), 'lake')
  rmSync(join(folder, missing))
  const path = join(folder, altered)
  const bytes = readFileSync(path)
  // The check value, so that no altered line can be read as one more or one fewer.
  bytes[bytes.length - 8] = (bytes[bytes.length - 8] ?? 0) ^ 1
  writeFileSync(path, bytes)
  const { problems } = await readExports(folder)
  expect(problems).toEqual([
    `missing: ${missing}`,
    expect.stringContaining(`unreadable: ${altered}`),
    `altered: ${altered} has another MD5`,
    expect.stringMatching(`altered: ${altered} has 0 of \\d+ items`),
  ])
  const gap = await readExports(join(copyOf([exports[0] as WrittenExport, last]), 'lake'))
  const { exportFromTime: from } = last.summary
  expect(gap.problems).toEqual([
    `missing: changes from ${exports[0]?.summary.exportTime} to ${from}`,
  ])
})

test('each member that a saved query of the lake reads exists in an export', () => {
  const lines = exports.flatMap((one) => one.lines) as Shown[]
  const images = lines.flatMap((line) => imageOf(line) ?? [])
  const nodes = [...lines, ...images, ...images.flatMap(({ history }) => history?.L ?? [])]
  const texts = Object.values(lakeQueries).flatMap((sql) => [...sql.matchAll(/'\$\.([^']+)'/g)])
  const paths = new Set(texts.map(([, path = '']) => path.split(/\W+/).filter(Boolean).join('.')))
  const has = (path: string) => (node: Shown) =>
    path.split('.').reduce((at, name) => at?.[name], node) !== undefined
  expect([...paths].filter((path) => !nodes.some(has(path)))).toEqual([])
  expect(paths.size).toBeGreaterThan(10)
})
