import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { runSettlement } from '../../shared/settlement/run.ts'
import { listBatches } from '../../shared/store/settlement/batches.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { type BankBooks, bankBooks, strangeInstructions } from './bank-books.ts'
import { livedThrough } from './five-days.ts'
import { complaintsOf } from './invariants.ts'
import { type Meeting, meeting } from './meeting.ts'
import { at, completedDebits, newProvider, reverse } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

/** What no emulator does to settlement: conflicts, and answers that are lost after the commit. */

beforeAll(useFreshTable)
const shelf = useReportShelf()

const pauses: number[] = []
let runs = 0
beforeEach(() => {
  pauses.length = 0
  runs = 0
})

const lost = () => Object.assign(new Error('socket hang up'), { name: 'TimeoutError' })

const isTransaction = (name: string): boolean => name.includes('TransactWrite')
const isWrite = (name: string): boolean => /TransactWrite|PutItem/.test(name)

/** What each run of three nights meets; a run that fails comes again. */
const live = async (what: () => Meeting) => {
  const provider = await newProvider({ account: '1041001001' })
  const bank = bankBooks()
  const [large] = await completedDebits(provider, [100_00, 40_00], at('09:00:00'))
  await completedDebits(provider, [5_00], at('09:00:00', 1))
  await completedDebits(provider, [500_00], at('09:00:00', 2))
  for (const daysLater of [1, 2, 3, 4]) {
    await meeting(what(), () => untilDone(() => settle(provider, bank, daysLater)))
    if (large) await reverse(large.facts.reference, at('12:00:00', daysLater))
  }
  const { books, ...lived } = await livedThrough(provider)
  expect(complaintsOf(books)).toEqual([])
  expect(strangeInstructions(bank)).toEqual([])
  const payments = [...bank.paid.values()].map(({ amount }) => amount)
  return { ...lived, payments }
}

const settle = async (provider: ProviderId, bank: BankBooks, daysLater: number) => {
  runs += 1
  const now = at('00:00:01', daysLater)
  const runtime = still({
    now: () => now,
    random: () => 0.5,
    pause: async (milliseconds) => {
      pauses.push(milliseconds)
    },
  })
  const world = { runtime, connectors: { sandbox: bank.connector, http: bank.connector } }
  await runSettlement(dayOf(now), [provider], world, () => false)
  // What the sweep has asked for again.
  for (const { id, status } of await listBatches(provider, { limit: 100 })) {
    if (status === 'processing') await payBatch(id, world)
  }
}

const RUNS_MAX = 40

const untilDone = async (work: () => Promise<void>): Promise<void> => {
  for (let run = 1; ; run += 1) {
    try {
      return await work()
    } catch (error) {
      if (run === RUNS_MAX || error instanceof Refusal) throw error
    }
  }
}

/** Says something else than the answer to each write once, and then to its repeat nothing else. */
const eachOnce = (applies: (name: string) => boolean, instead: Meeting): (() => Meeting) => {
  let turn = 0
  return () => (call, go) => {
    if (!applies(call.name)) return go()
    turn += 1
    return turn % 2 === 1 ? instead(call, go) : go()
  }
}

const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    $metadata: {},
    message: 'cancelled',
    CancellationReasons: codes.map((Code) => ({ Code })),
  })

const conflictOf = (name: string): Error =>
  isTransaction(name)
    ? cancelled('ConditionalCheckFailed', 'None', 'TransactionConflict')
    : new TransactionConflictException({ $metadata: {}, message: 'conflict' })

/** What a write that was done already says to one without the token of the first. */
const refusalOf = (name: string): Error =>
  isTransaction(name)
    ? cancelled('ConditionalCheckFailed', ...Array(90).fill('ConditionalCheckFailed'))
    : new ConditionalCheckFailedException({ $metadata: {}, message: 'failed' })

describe('the same end is come to', () => {
  let whole: Awaited<ReturnType<typeof live>>
  beforeAll(async () => {
    whole = await live(() => (_, go) => go())
    expect(whole.payments).toHaveLength(2)
  })

  test('when each write meets another transaction first, and in one run', async () => {
    const conflicts = eachOnce(isWriteOnce, async ({ name }) => {
      throw conflictOf(name)
    })
    expect(await live(conflicts)).toEqual(whole)
    expect(runs).toBe(4)
    expect(pauses.length).toBeGreaterThan(0)
  })

  test('when the answer to each write is lost, and the client repeats it', async () => {
    const deaf = eachOnce(
      (name) => name.startsWith('try ') && isWrite(name),
      async (_, go) => {
        await go()
        throw lost()
      },
    )
    expect(await live(deaf)).toEqual(whole)
    expect(runs).toBe(4)
  })

  test('when it is repeated as another, which finds it done', async () => {
    const doubled = eachOnce(isWriteOnce, async ({ name }, go) => {
      await go()
      throw refusalOf(name)
    })
    expect(await live(doubled)).toEqual(whole)
    expect(runs).toBe(4)
  })

  test('when the answer to each write is lost for good, and the run comes again', async () => {
    const deaf = eachOnce(isWriteOnce, async (_, go) => {
      await go()
      throw lost()
    })
    expect(await live(deaf)).toEqual(whole)
  })

  test('and no report is written in two ways', () => {
    expect(shelf.differing).toEqual([])
  })
})

/** By the call itself, however often it is tried. */
function isWriteOnce(name: string): boolean {
  return !name.startsWith('try ') && isWrite(name)
}
