import type { ProviderId } from '../domain/providers/provider.ts'
import { openDay, spanOf } from '../ledger/day.ts'
import {
  type Account,
  type Balances,
  balanceOf,
  isWithin,
  type LedgerEntry,
  payable,
  post,
  trialBalance,
} from '../ledger/entry.ts'
import { listProviders } from '../store/providers/providers.ts'
import { findBatches, listBatchTimes } from '../store/settlement/batches.ts'
import { findFunds, listFundings } from '../store/settlement/funding.ts'
import { listAdjustments } from '../store/settlement/lines.ts'
import type { Findings } from './findings.ts'
import { type CheckResult, checkResult } from './invariants.ts'
import { casesAt, refundsOwed, reversedSince, stateOf, undecided } from './ledger-state.ts'
import { inGhs, whole } from './sums.ts'
import type { Window } from './window.ts'

/**
 * Compares the ledger of a day that is over with what debits, batches, refunds and the cash counter
 * say by themselves. A ledger that cannot be derived is a difference, and hides no other.
 */
export const checkLedger = async (terms: Window, tally: Findings): Promise<void> => {
  if (terms.now < terms.before) return
  try {
    await compare(terms, tally)
  } catch (error) {
    // A fault of DynamoDB says nothing about the books.
    if (!(error instanceof Error) || '$metadata' in error) throw error
    tally.add(
      40,
      { subject: terms.date },
      checkResult({ [`cannot be derived: ${error.message}`]: true }),
    )
  }
}

const compare = async (terms: Window, tally: Findings): Promise<void> => {
  const { date, before: end, now } = terms
  let isRight = true
  const add = (of: Parameters<Findings['add']>[1], found: CheckResult) => {
    isRight &&= found.wrong.length === 0
    tally.add(40, of, found)
  }
  const all = { subject: date }
  const fundsBefore = await findFunds()
  const { opening, entries, close } = await openDay(date, now)
  const closing = new Map(opening)
  const moved: Balances = new Map()
  const paidOut: Balances = new Map()
  for await (const entry of entries) {
    add({ subject: `${entry.type} ${entry.source.id}` }, isEntry(entry))
    post(closing, entry)
    post(moved, entry)
    if (entry.type === 'payout') post(paidOut, entry)
  }
  add(all, isBalanced(opening, 'opening'))
  add(all, isBalanced(closing, 'closing'))
  const cases = await casesAt(end)
  add(all, agrees('refunds_payable', closing, -refundsOwed(cases, end)))
  add(all, agrees('exceptions', closing, -undecided(cases, end)))
  const reversed = await reversedSince(cases, end)
  let fees = 0n
  let paidSince = 0n
  for (const provider of await listProviders()) {
    const state = await stateOf(provider, end)
    const owed = state.owed + (reversed.get(provider) ?? 0n)
    add({ provider, subject: date }, agrees(payable(provider), closing, -owed))
    const day = await batchesOfDay(provider, terms)
    add({ provider, subject: date }, isPaidOut(provider, paidOut, day.paid))
    fees += day.fees
    paidSince += state.paidSince
  }
  add(all, agrees('fee_income', moved, -fees, 'changed by'))
  const later = (await listFundings()).filter((one) => one.date > date)
  const funded = later.reduce((all, { amount }) => all + whole(amount), 0n)
  const funds = await findFunds()
  // A payout or a funding in between is no difference.
  if (funds === fundsBefore) {
    add(all, agrees('cash', closing, whole(funds) - funded + paidSince))
  }
  // A later repair of the data must not leave its fault in stored balances.
  if (isRight) await close()
}

const isEntry = ({ amount, debit, credit }: LedgerEntry): CheckResult =>
  checkResult({
    'has an entry that is not in whole pesewas above zero': !(
      Number.isSafeInteger(amount) && amount > 0
    ),
    'has an entry that debits and credits one account': debit === credit,
  })

const isBalanced = (balances: Balances, when: string): CheckResult =>
  checkResult({
    [`the ${when} trial balance is ${inGhs(whole(trialBalance(balances)))}`]:
      trialBalance(balances) !== 0,
  })

const agrees = (
  account: Account,
  balances: Balances,
  expected: bigint,
  says = 'is',
): CheckResult => {
  const balance = whole(balanceOf(balances, account))
  return checkResult({
    [`${account} ${says} ${inGhs(balance)} in the ledger, but ${inGhs(expected)} in the table`]:
      balance !== expected,
  })
}

const isPaidOut = (provider: ProviderId, paidOut: Balances, expected: bigint): CheckResult => {
  const paid = whole(balanceOf(paidOut, payable(provider)))
  return checkResult({
    [`payouts are ${inGhs(paid)} in the ledger, but the nets of their batches give ${inGhs(expected)}`]:
      paid !== expected,
  })
}

/** From other members of the headers than those that the entries follow from. */
const batchesOfDay = async (
  provider: ProviderId,
  { date }: Window,
): Promise<{ fees: bigint; paid: bigint }> => {
  const isOfDay = (at: Date | null): boolean => at !== null && isWithin(at, spanOf(date))
  const times = await listBatchTimes(provider)
  const named = times.filter(
    ({ sealedAt, completedAt }) => isOfDay(sealedAt) || isOfDay(completedAt),
  )
  const sums = { fees: 0n, paid: 0n }
  for (const batch of await findBatches(named.map(({ id }) => id))) {
    const { totals, offsets, sealedAt, completedAt } = batch
    if (!totals) continue
    const net = whole(totals.net)
    if (isOfDay(sealedAt)) {
      const returned = (await listAdjustments(batch.id)).map(({ fee }) => whole(fee))
      sums.fees += returned.reduce(
        (all, fee) => all + fee,
        whole(totals.gross) + whole(totals.adjustments) - net,
      )
    }
    if (isOfDay(completedAt) && net > 0n) {
      sums.paid += offsets.reduce((rest, { amount }) => rest - whole(amount), net)
    }
  }
  return sums
}
