import { expect, onTestFinished, test, vi } from 'vitest'
import { readCustomers } from '../../shared/operator/customers-file.ts'
import { type NounCall, operateFully } from '../../shared/operator/operate.ts'
import type { OperatorReply } from '../../shared/operator/verbs.ts'

/** Verbs that the operator command and the console complete in several calls. */

type LongCall = NonNullable<Parameters<typeof operateFully>[2]>

/** Runs a call whose steps get `replies` in order. */
const complete = async (
  name: string,
  options: Record<string, string>,
  replies: (OperatorReply | Error)[],
  long: LongCall = {},
) => {
  const [noun = '', verb = ''] = name.split(' ')
  const steps: NounCall[] = []
  const progress: unknown[] = []
  const reply = await operateFully(
    { noun, verb, options },
    async (call) => {
      steps.push(call)
      const next = replies[steps.length - 1]
      if (!next || next instanceof Error) throw next ?? new Error(`Step ${steps.length}`)
      return next
    },
    { ...long, onProgress: (...counts) => progress.push(counts) },
  )
  return { reply, steps, progress }
}

const bulk = 'an-upload'
const progress = (processed: number) => ({ result: { bulk, processed, total: 32 } })
const done = { result: { done: 32, skipped: [], refused: [] } }

test.each([
  ['exception refund', { bank: 'GCB' }, { bank: 'GCB', bulk }],
  ['approval grant', { id: 'a-request' }, { id: 'a-request' }],
])('the call `%s` is repeated until each object is processed', async (name, options, repeated) => {
  const replies = [progress(10), progress(20), done]
  const call = await complete(name, options as Record<string, string>, replies)
  expect(call.reply).toEqual(done)
  expect(call.steps.map((step) => step.options)).toEqual([options, repeated, repeated])
  expect(call.progress).toEqual([
    [10, 32],
    [20, 32],
  ])
})

test('a file of 25,000 references is one upload in three parts', async () => {
  const references = Array.from(
    { length: 25_000 },
    (_, n) => `DCS-20261121-${String(n).padStart(6, '0')}`,
  )
  const uploaded = { result: { bulk } }
  const file = [Buffer.from(references.join('\n'))]
  const replies = [uploaded, uploaded, uploaded, done]
  const { reply, steps } = await complete('exception refund', { file: 'a/b.csv' }, replies, {
    file,
  })
  expect(reply).toEqual(done)
  const parts = steps.slice(0, 3).map(({ options }) => options)
  expect(parts.map((part) => [part.n, part.bulk])).toEqual([
    ['0', undefined],
    ['1', bulk],
    ['2', bulk],
  ])
  expect(parts.flatMap(({ rows = '' }) => JSON.parse(rows))).toEqual(references)
  expect(steps[3]?.options).toEqual({ file: 'b.csv', bulk })
})

test('an upload shows its progress after each twentieth part', async () => {
  const malformed = Array(20_000).fill('x')
  const lines = ['phone,name,account_number,active', '+233205000001,,,no', ...malformed]
  const file = [Buffer.from(lines.join('\n'))]
  const replies = [...Array(21).fill({ result: { bulk } }), done]
  const options = { file: 'customers.csv', bank: 'ADB' }
  const call = await complete('customer import', options, replies, { file })
  expect([call.reply, call.progress]).toEqual([done, [[1]]])
})

test('the accounts of a large file are read in parts that an item has room for', async () => {
  const phones = Array.from({ length: 10_000 }, (_, n) => `+2332050${String(n).padStart(5, '0')}`)
  const lines = phones.map((phone) => `${phone},${'ä'.repeat(20)},1041005001,true`)
  const text = ['phone,name,account_number,active', ...lines].join('\n')
  const parts = await Array.fromAsync(readCustomers([Buffer.from(text)]))
  expect(parts.flatMap(({ rows }) => rows.map(([phone]) => phone))).toEqual(phones)
  expect(parts.length).toBeLessThan(9)
  for (const { rows } of parts) {
    expect(Buffer.byteLength(JSON.stringify(rows))).toBeLessThan(201_000)
  }
})

const invariants = [
  { number: 1, title: 'One', differences: 0, examples: [] },
  { number: 2, title: 'Two', differences: 3, examples: [{ subject: 'S', difference: 'differs' }] },
  { number: 3, title: 'Three', differences: 1, examples: [] },
]
const reconciled = { result: { invariants } }
const date = { date: '2026-11-21' }
const differing = [
  { number: 2, title: 'Two', differences: 3, example: 'S differs' },
  { number: 3, title: 'Three', differences: 1, example: null },
]

test('a reconciliation of several calls continues its run', async () => {
  const running = { result: { run: 'run-1' } }
  const call = await complete('reconciliation run', date, [running, running, reconciled])
  expect(call.reply).toEqual(reconciled)
  const again = { ...date, run: 'run-1' }
  expect(call.steps.map(({ options }) => options)).toEqual([date, again, again])
})

test.each([
  ['with the differences of its reconciliation', reconciled, JSON.stringify(differing)],
  [
    'without differences if its reconciliation is refused',
    { error: 'the day has not ended' },
    undefined,
  ],
])('a day is closed %s', async (_, reply, expected) => {
  const closed = { result: 'closed' }
  const call = await complete('day close', date, [reply, closed])
  expect(call.reply).toEqual(closed)
  expect(call.steps.map(({ noun }) => noun)).toEqual(['reconciliation', 'day'])
  expect(call.steps[1]?.options.reconciled).toBe(expected)
})

test('a day is not closed when its reconciliation fails', async () => {
  const fault = new Error('manage-reconciliation: timed out')
  await expect(complete('day close', date, [fault, { result: 'closed' }])).rejects.toBe(fault)
})

test('a statement is refused by a Node without SQLite', async () => {
  const spy = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never)
  onTestFinished(() => spy.mockRestore())
  const options = { ...date, bank: 'GCB', statement: 'file.csv' }
  const { reply, steps } = await complete('reconciliation statement', options, [])
  expect([reply, steps]).toEqual([{ error: 'A statement needs Node 22.13' }, []])
})
