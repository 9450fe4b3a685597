import { expect, test, vi } from 'vitest'
import {
  type AuditLine,
  canonical,
  differencesBetween,
  type LineDifference,
  parseLine,
} from '../../shared/audit/lines.ts'
import { sources } from '../../shared/audit/sources.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import { table } from '../../shared/store/table.ts'
import { transact } from '../../shared/store/transactions.ts'
import { at, objects, putProviders, TODAY } from '../reconciliation/one-day.ts'
import { still } from '../support/examples.ts'
import { seal, useSealedWorld, verified } from './sealed-world.ts'

/** Canonical lines, and the comparison of many. */

useSealedWorld()

const line = (n: number, more = {}): AuditLine =>
  parseLine(canonical({ id: String(n), at: `2026-11-21T00:00:${n % 60}`, ...more }))

test('a line does not depend on the order of the members', () => {
  expect(canonical({ b: { d: 1, c: [{ f: 1, e: 2 }] }, a: at(TODAY, '09:00:00') })).toBe(
    '{"a":"2026-11-21T09:00:00.000Z","b":{"c":[{"e":2,"f":1}],"d":1}}',
  )
})

test.each([1, 10, 1_000])(
  'the differences of lines in parts of %d do not depend on their order',
  async (linesMax) => {
    let open = 0
    async function* read(lines: readonly AuditLine[]) {
      open += 1
      yield* lines
    }
    const sealed = Array.from({ length: 40 }, (_, n) => line(n))
    const current = [line(99), ...sealed.toReversed().filter(({ id }) => id !== '7')]
    current[20] = line(Number(current[20]?.id), { by: 'eve' })
    const found: LineDifference[] = []
    const differences = differencesBetween(
      () => read(sealed),
      () => read(current),
      linesMax,
    )
    for await (const one of differences) found.push(one)
    const names = found.map(({ kind, line }) => `${kind} ${line.id}`).sort()
    expect(names).toEqual([`altered ${current[20]?.id}`, 'inserted 99', 'removed 7'])
    expect(open).toBe(2 + 2 * Math.ceil(40 / linesMax))
  },
)

test('a comparison reads equal lines in another order once', async () => {
  const lines = Array.from({ length: 40 }, (_, n) => line(n))
  async function* read(all: readonly AuditLine[]) {
    yield* all
  }
  const differences = differencesBetween(
    () => read(lines),
    () => read(lines.toReversed()),
  )
  expect(await differences.next()).toMatchObject({ done: true })
})

const CHANGES = 10_000
const WRITES_MAX = 100

test('a day of ten thousand changes is sealed and verified page by page', async () => {
  await putProviders()
  for (let n = 0; n < CHANGES; n += WRITES_MAX) {
    const writes = Array.from({ length: WRITES_MAX }, (_, index) => {
      const id = String(n + index).padStart(6, '0')
      const author = { id, at: at(TODAY, '09:00:00'), by: 'ama', noun: 'bank', verb: 'update' }
      return changeWrites({ ...author, target: 'GCB' }, { name: 'x' }, { name: id.repeat(20) })
    })
    await transact(writes.flat(), still())
  }
  await seal(TODAY)
  expect(await verified(TODAY, TODAY)).toEqual({ [TODAY]: 'ok' })
  // The first record comes with the first page: the pages that follow are not read yet.
  const send = vi.spyOn(table, 'send')
  const first = await sources.changes?.records(TODAY)[Symbol.asyncIterator]().next()
  expect([first?.done, send.mock.calls.length]).toEqual([false, 1])
  expect(objects.get(`${TODAY}/changes.ndjson`)?.body.split('\n')).toHaveLength(CHANGES + 1)
}, 60_000)
