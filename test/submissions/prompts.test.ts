import { beforeEach, expect, test, vi } from 'vitest'
import { answerCalls, perform } from '../../sandbox/aws/sdk.ts'
import type { Table } from '../../sandbox/aws/table/table.ts'
import type { Bank } from '../../shared/domain/banks/bank.ts'
import { advance, type Debit } from '../../shared/domain/debits/debit.ts'
import { isPromptRefused, refusePrompt } from '../../shared/domain/debits/prompts.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { pause, type Runtime } from '../../shared/runtime.ts'
import { bankHealth, changeBankHealth } from '../../shared/store/banks/health.ts'
import { customerListOf } from '../../shared/store/debits/debit-item.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { newSubmitter } from '../../shared/submissions/submit.ts'
import { bankMove, gcb, inSeconds, pendingDebit, still } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'
import { SILENT } from '../support/requests.ts'
import { storeBank, storeDebit } from '../support/settings.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useTable } from '../support/tables.ts'

/** The cap on the approval prompts of a customer (docs/api.md#approval-prompts). */

const clock = { now: 0, lag: 0 }
const consumed = { read: 0, write: 0 }
const [a, b, c] = ['a', 'b', 'c'] as unknown as [ProviderId, ProviderId, ProviderId]
const bank: Bank = { ...gcb, connector: 'sandbox', openPromptsMax: 5 }
const { lines, clear } = captureOutput()

let table: Table
const storeBankNow = async () => {
  table = useTable({
    now: () => clock.now,
    indexLag: () => clock.lag,
    onConsumed: ({ kind, units }) => {
      consumed[kind] += units
    },
  })
  await storeBank(bank)
}

beforeEach(async () => {
  const logging = { AWS_LAMBDA_LOG_LEVEL: 'WARN', METRICS_DISABLED: 'false' }
  Object.assign(process.env, { SANDBOX_BANK: 'true', ...logging })
  process.env.CACHE_SECONDS = '-6000'
  clear()
  Object.assign(clock, { now: 0, lag: 0 })
  await storeBankNow()
})

const stored = async (provider: ProviderId, seconds: number, phone = SILENT): Promise<Debit> => {
  const facts = { provider, phone: phone as PhoneNumber }
  const debit = pendingDebit(facts, inSeconds(seconds))
  await storeDebit(debit)
  return debit
}

const submitAt = async (
  { facts }: Debit,
  seconds: number,
  repeated = false,
  others: Partial<Runtime> = {},
) => {
  const runtime = still({ now: () => inSeconds(seconds), ...others })
  const submit = newSubmitter({ skipsSlowBanks: true, reportLater: async () => undefined }, runtime)
  await submit({ reference: facts.reference, repeated, requestId: 'request' })
  return findDebit(facts.reference)
}

const statusAt = async (debit: Debit, seconds: number) => (await submitAt(debit, seconds))?.status

test.each<[string, ProviderId, number, boolean]>([
  ['', a, 1, false],
  ['aa', a, 5, false],
  ['aaa', a, 5, true],
  ['aaa', b, 5, false],
  ['aaaaaaaa', b, 5, false],
  ['aaaaab', b, 5, false],
  ['aaabb', b, 5, true],
  ['aaabb', c, 5, true],
  ['a', a, 1, true],
  ['a', b, 1, true],
  ['aa', b, 2, true],
  ['abab', a, 7, false],
])(
  'a prompt after those of %j by %s, at the cap %i, is refused: %j',
  (earlier, own, cap, expected) => {
    expect(isPromptRefused(earlier.split('') as ProviderId[], own, cap)).toBe(expected)
  },
)

test('only five of 1,000 charges to one phone reach the bank, as many as its cap allows', async () => {
  const debits: Debit[] = []
  for (let n = 0; n < 1_000; n += 1) debits.push(await stored(n % 2 ? a : b, n / 100))
  const statuses: string[] = []
  consumed.read = 0
  // Messages overtake each other.
  for (const debit of debits.toReversed()) statuses.push((await statusAt(debit, 11)) ?? '')
  expect(statuses.filter((status) => status === 'processing')).toHaveLength(5)
  expect(statuses.filter((status) => status === 'failed')).toHaveLength(995)
  expect(lines().filter(({ PromptsRefused }) => PromptsRefused)).toHaveLength(995)
})

test('only five of 20 charges in one millisecond, each submitted before the next is stored, reach the bank', async () => {
  const charged = Array.from({ length: 20 }, (_, n) =>
    pendingDebit({ provider: n % 2 ? a : b, phone: SILENT as PhoneNumber }, inSeconds(0)),
  )
  const statuses: unknown[] = []
  // Their references sort before those of the submitted ones.
  for (const debit of charged.toReversed()) {
    await storeDebit(debit)
    statuses.push(await statusAt(debit, 1))
  }
  expect(statuses.filter((status) => status === 'processing')).toHaveLength(5)
})

test('only five of 20 charges in one millisecond, which are submitted at once, reach the bank', async () => {
  const debits: Debit[] = []
  for (let n = 0; n < 20; n += 1) debits.push(await stored(n % 2 ? a : b, 0))
  const submitted = await Promise.all(debits.map((debit) => submitAt(debit, 1, false, { pause })))
  expect(submitted.filter((debit) => debit?.status === 'processing')).toHaveLength(5)
})

test.each([
  ['failed', 'processing'],
  ['processing', 'failed'],
] as const)(
  'a debit of the same millisecond whose submission ends as %s leaves one that waited for it %s',
  async (to, expected) => {
    await storeBank({ ...bank, openPromptsMax: 1 })
    const [debit, other] = [await stored(a, 0), await stored(a, 0)]
    const cause = { at: inSeconds(1), requestId: 'other' }
    const decided =
      to === 'failed'
        ? refusePrompt(other, cause)
        : (advance(other, { ...cause, by: 'bank:GCB', to, changes: {} }) as Debit)
    const runtime = { pause: () => storeDebit(decided) }
    expect((await submitAt(debit, 1, false, runtime))?.status).toBe(expected)
  },
)

test('a debit that waited ten times for one of the same millisecond is refused', async () => {
  await storeBank({ ...bank, openPromptsMax: 1 })
  const debit = await stored(a, 0)
  // Sorts later, and is never submitted.
  await stored(a, 0)
  let pauses = 0
  const pause = async () => {
    pauses += 1
  }
  expect((await submitAt(debit, 1, false, { pause }))?.status).toBe('failed')
  expect(pauses).toBe(10)
})

test('a debit that times out before its refusal is not counted as refused', async () => {
  await storeBank({ ...bank, openPromptsMax: 1 })
  await stored(a, 0)
  const debit = await stored(a, 1)
  const restore = aroundTableCalls(async (name, next, text) => {
    if (name !== 'Update' || !text().includes(debit.facts.reference)) return next()
    restore()
    await transition(debit, bankMove('failed', { by: 'job:expire-debit' }), still())
    return next()
  })
  expect((await submitAt(debit, 2))?.history.at(-1)?.by).toBe('job:expire-debit')
  expect(lines()).toEqual([])
})

test('a refused debit has the published code, and the log line names its provider and a remedy', async () => {
  for (let n = 0; n < 3; n += 1) await statusAt(await stored(a, n), 3)
  const debit = await submitAt(await stored(a, 4), 5)
  expect(debit?.history.at(-1)).toMatchObject({
    type: 'failed',
    by: 'job:submit-to-bank',
    changes: {
      errorCode: 'transaction_declined',
      errorMessage: 'Too many approval requests for this customer',
    },
  })
  expect(debit && customerListOf(debit)).toBe(`GCB#${SILENT}#unprompted`)
  const remedy = expect.stringContaining('operator provider disable --provider a')
  expect(lines()).toMatchObject([
    { message: 'too many prompts', provider: 'a', bank: 'GCB', remedy },
  ])
  expect(await statusAt(await stored(b, 6), 7)).toBe('processing')
})

test('a debit that another worker submits during the count of prompts stays processing', async () => {
  for (let n = 0; n < 3; n += 1) await statusAt(await stored(a, n), 3)
  const debit = await stored(a, 4)
  const submitted = bankMove('processing', { at: inSeconds(5) })(debit) as Debit
  aroundTableCalls(async (name, next, text) => {
    if (name === 'Query' && text().includes('by-customer')) await storeDebit(submitted)
    return next()
  })
  expect(await statusAt(debit, 5)).toBe('processing')
  expect(lines()).not.toContainEqual(expect.objectContaining({ message: 'too many prompts' }))
})

test('a prompt counts for ten minutes, also after its debit ends, and a refused debit never counts', async () => {
  for (let n = 0; n < 6; n += 1) await submitAt(await stored(a, n), n)
  expect(await statusAt(await stored(a, 600), 600)).toBe('failed')
  expect(await statusAt(await stored(a, 601), 601)).toBe('processing')
})

test('a debit that waited counts for ten minutes from its submission, not from its charge', async () => {
  const waited: Debit[] = []
  for (let n = 0; n < 3; n += 1) waited.push(await stored(a, n))
  for (const debit of waited) expect(await statusAt(debit, 400)).toBe('processing')
  expect(await statusAt(await stored(a, 610), 610)).toBe('failed')
  expect(await statusAt(await stored(a, 1_000), 1_000)).toBe('failed')
  expect(await statusAt(await stored(a, 1_001), 1_001)).toBe('processing')
})

test('a debit that was never submitted counts for ten minutes from its charge', async () => {
  for (let n = 0; n < 3; n += 1) await stored(a, n)
  expect(await statusAt(await stored(a, 600), 600)).toBe('failed')
  expect(await statusAt(await stored(a, 601), 601)).toBe('processing')
})

test('a thousand debits that were never submitted do not prevent the count of later ones', async () => {
  for (let n = 0; n < 1_000; n += 1) await stored(a, 0)
  for (let n = 0; n < 3; n += 1)
    expect(await statusAt(await stored(a, 700), 700)).toBe('processing')
  clear()
  consumed.read = 0
  expect(await statusAt(await stored(a, 701), 701)).toBe('failed')
  expect(lines()).toMatchObject([{ message: 'too many prompts' }])
  expect(consumed.read).toBeLessThan(10)
})

test('the count reads about a hundred of many debits that were never submitted', async () => {
  for (let n = 0; n < 300; n += 1) await stored(a, 0)
  const debit = await stored(a, 601)
  clear()
  consumed.read = 0
  expect(await statusAt(debit, 601)).toBe('processing')
  expect(lines()).toMatchObject([{ PromptsUnchecked: 1 }])
  expect(consumed.read).toBeLessThan(200)
})

test('the prompts of other phones do not count, and a debit that waited for its bank is counted', async () => {
  for (let n = 0; n < 3; n += 1) await submitAt(await stored(a, n), n)
  expect(await statusAt(await stored(a, 4, '+233241234567'), 5)).toBe('processing')
  expect((await submitAt(await stored(a, 6), 7, true))?.status).toBe('failed')
})

test('the cap of the stage applies to a bank without its own', async () => {
  const { openPromptsMax, ...others } = bank
  await storeBank(others)
  for (let n = 0; n < 3; n += 1) expect(await statusAt(await stored(a, n), n)).toBe('processing')
  vi.stubEnv('OPEN_PROMPTS_MAX', '2')
  expect(await statusAt(await stored(a, 4), 4)).toBe('failed')
  vi.unstubAllEnvs()
  expect(await statusAt(await stored(a, 5), 5)).toBe('processing')
})

test('a debit is submitted if the index cannot be read, and a metric counts it', async () => {
  for (let n = 0; n < 3; n += 1) await submitAt(await stored(a, n), n)
  const debit = await stored(a, 4)
  answerCalls(({ constructor: { name }, input }) => {
    const { IndexName } = input as { IndexName?: string }
    if (IndexName === 'by-customer') return Promise.reject(new Error('The index is throttled'))
    return perform(() => table.run(name, input))
  })
  expect(await statusAt(debit, 5)).toBe('processing')
  const ids = { provider: 'a', bank: 'GCB', reference: debit.facts.reference }
  expect(lines()).toMatchObject([
    { message: 'prompts are not counted', ...ids, PromptsUnchecked: 1 },
  ])
})

test('an index that is late admits at most the debits that it does not show', async () => {
  clock.lag = 1_000
  const debits: Debit[] = []
  for (let n = 0; n < 10; n += 1) debits.push(await stored(a, n / 10))
  const statuses: unknown[] = []
  for (const debit of debits) statuses.push(await statusAt(debit, 1))
  expect(statuses).toEqual(Array(10).fill('processing'))
  clock.now = 2_000
  expect(await statusAt(await stored(a, 2), 2)).toBe('failed')
})

test('the count costs half a read unit of an ordinary debit, and no write', async () => {
  const unitsOf = async (openPromptsMax: number | undefined) => {
    await storeBankNow()
    await storeBank({ ...bank, openPromptsMax })
    for (let n = 0; n < 2; n += 1) await submitAt(await stored(a, n), n)
    const debit = await stored(a, 3)
    Object.assign(consumed, { read: 0, write: 0 })
    await submitAt(debit, 3)
    return { ...consumed }
  }
  const [without, counted] = [await unitsOf(undefined), await unitsOf(5)]
  expect({ read: counted.read - without.read, write: counted.write - without.write }).toEqual({
    read: 0.5,
    write: 0,
  })
})

test.each([
  [1.999, 'up'],
  [2, 'slow'],
])('a bank that takes %d seconds besides the wait for prompts is %s', async (seconds, state) => {
  const behaviour = { as: 'slow', code: null, until: null } as const
  await storeBank({ ...bank, openPromptsMax: 1, behaviour })
  const health = { state: 'slow', failures: 1, failingSince: inSeconds(0) } as const
  await changeBankHealth(bank.identifier, () => health, inSeconds(0))
  const [debit, other] = [await stored(a, 0), await stored(a, 0)]
  const decided = refusePrompt(other, { at: inSeconds(1), requestId: 'other' })
  let now = 1
  const pause = async (milliseconds: number) => {
    const isBank = milliseconds === 5_000
    now += isBank ? seconds : 3
    if (!isBank) await storeDebit(decided)
  }
  const runtime = still({ now: () => inSeconds(now), pause })
  const submit = newSubmitter(
    { skipsSlowBanks: false, reportLater: async () => undefined },
    runtime,
  )
  await submit({ reference: debit.facts.reference, repeated: false, requestId: 'request' })
  expect(await bankHealth(bank.identifier, inSeconds(now))).toMatchObject({ state })
})

test('a submission is recorded although the health of its bank cannot be written', async () => {
  const health = { state: 'up', failures: 1, failingSince: inSeconds(0) } as const
  await changeBankHealth(bank.identifier, () => health, inSeconds(0))
  aroundTableCalls((_, next, text) =>
    text().includes('bank-health') ? Promise.reject(new Error('throttled')) : next(),
  )
  expect(await statusAt(await stored(a, 0), 1)).toBe('processing')
  expect(lines()).toMatchObject([{ message: 'health of the bank not noted', bank: 'GCB' }])
})
