import * as v from 'valibot'
import { beforeAll, describe, expect, test } from 'vitest'
import { saveBank } from '../../shared/banks/save-bank.ts'
import { Bank } from '../../shared/domain/banks/bank.ts'
import { FeeSchedule } from '../../shared/domain/settlement/fee-schedule.ts'
import { real } from '../../shared/runtime.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { gcb } from '../support/examples.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { useFreshTable } from '../support/tables.ts'
import {
  type Killing,
  livedThrough,
  liveFiveDays,
  type StepName,
  type Worker,
} from './five-days.ts'
import { complaintsOf } from './invariants.ts'
import { useQueues } from './messages-sent.ts'
import { newProvider } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

/**
 * A function may end at any moment. Whatever write it ended at, what comes after it brings all to
 * the same end, and no batch is paid twice. `EVERY_DEATH=true` takes both sides of each write; else
 * it is the side after it, which is where the next one begins, of nights that differ.
 */

const isWhole = process.env.EVERY_DEATH !== undefined
const sides = isWhole ? (['before', 'after'] as const) : (['after'] as const)

const bank = useHttpBank()
const shelf = useReportShelf()
useQueues()

const ownBank = v.parse(Bank, { ...gcb, identifier: 'HTB', name: 'Test Bank', connector: 'http' })

beforeAll(async () => {
  await useFreshTable()
  Object.assign(process.env, { SEALING_KEY: 'a text for tests', LOCAL_PEERS: 'true' })
  await saveBank(
    ownBank.identifier,
    () => ownBank,
    {
      'connector-url': bank.url(),
      'connector-secret': bank.secret,
    },
    noWrites,
    real,
  )
})

const feeSchedule = v.parse(FeeSchedule, { basisPoints: 150, fixed: 10 })

const live = async (worker: Worker, killed?: Killing) => {
  const provider = await newProvider({ account: '1041001001', bank: ownBank, feeSchedule })
  const writes = await liveFiveDays(provider, worker, killed)
  const { books, ...lived } = await livedThrough(provider)
  const payments = books.batches
    .map(({ uuid, date }) => `${date} ${bank.payments.filter((paid) => paid === uuid).length}`)
    .sort()
  return { writes, complaints: complaintsOf(books), lived: { ...lived, payments } }
}

/** So many writes of each step are there to be ended at. */
const WRITES: Record<StepName, number> = {
  'first night': 8,
  reversal: 1,
  'second night': 10,
  'third night': 8,
  'fourth night': 4,
}

const kills = Object.entries(WRITES)
  .filter(([step]) => isWhole || step !== 'third night')
  .flatMap(([step, count]) =>
    Array.from({ length: count }, (_, write) =>
      sides.map((side): Killing => ({ step: step as StepName, write, side })),
    ).flat(),
  )

describe('five days of a provider', () => {
  let whole: Awaited<ReturnType<typeof live>>
  beforeAll(async () => {
    whole = await live('jobs')
  })

  test('that nothing ends', async () => {
    expect(whole.writes).toEqual(WRITES)
    expect(whole.complaints).toEqual([])
    expect(whole.lived).toMatchInlineSnapshot(`
      {
        "batches": [
          "2026-11-23#1 completed net 13770 paid 13770 outstanding 0 by -",
          "2026-11-24#1 completed net -9358 paid undefined outstanding 0 by 2026-11-25#1",
          "2026-11-25#1 completed net 49240 paid 39882 outstanding 0 good 2026-11-24#1 9358 by -",
        ],
        "debits": [
          "10000 reversed 2026-11-23#1 2026-11-24#1",
          "4000 completed 2026-11-23#1 -",
          "500 completed 2026-11-24#1 -",
          "50000 completed 2026-11-25#1 -",
        ],
        "lines": [
          "2026-11-23#1 debit 10000 9840",
          "2026-11-23#1 debit 4000 3930",
          "2026-11-24#1 adjustment 10000 -9840",
          "2026-11-24#1 debit 500 482",
          "2026-11-25#1 debit 50000 49240",
        ],
        "payments": [
          "2026-11-23 1",
          "2026-11-24 0",
          "2026-11-25 1",
        ],
      }
    `)
    expect((await live('operator')).lived).toEqual(whole.lived)
  })

  test.each(kills)('ended $side write $write of the $step', async (killed) => {
    const { complaints, lived } = await live('jobs', killed)
    expect(complaints).toEqual([])
    expect(lived).toEqual(whole.lived)
  })

  // One after the other: an operator's run is of everything that is due.
  test.each(kills.filter(({ step }) => step === 'second night'))(
    'ended $side write $write of the $step, in the hands of an operator',
    async (killed) => {
      const { complaints, lived } = await live('operator', killed)
      expect(complaints).toEqual([])
      expect(lived).toEqual(whole.lived)
    },
  )

  test('in which the bank is not understood', async () => {
    const before = bank.requests.length
    bank.conducts.push('accept, then break off', { status: 503, body: '' })
    const { complaints, lived } = await live('jobs')
    expect(complaints).toEqual([])
    expect(lived).toEqual(whole.lived)
    const asked = bank.requests.slice(before).map(({ method }) => method)
    expect(asked).toEqual(['POST', 'GET', 'POST', 'GET', 'POST'])
  })

  test('no report was written in two ways', () => {
    expect(shelf.differing).toEqual([])
  })
})
