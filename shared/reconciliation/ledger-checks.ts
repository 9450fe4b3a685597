import { formatAmount } from '../domain/money.ts'
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
import { findBatchesWithin } from '../ledger/facts.ts'
import { listProviders } from '../store/providers/providers.ts'
import { findFunds, listFundings } from '../store/settlement/funding.ts'
import { listAdjustments } from '../store/settlement/lines.ts'
import { type CheckResult, checkResult, type Findings, type Subject } from './findings.ts'
import { casesAt, refundsOwed, reversedSince, stateOf, undecided } from './ledger-state.ts'
import type { Window } from './records.ts'
import { whole } from './sums.ts'

/**
 * Compares the ledger of a past day with debits, batches, refunds and the cash counter. A ledger that
 * cannot be derived is a difference of its own.
 */
export const checkLedger = async (window: Window, findings: Findings): Promise<void> => {
  if (window.now < window.before) return
  try {
    await compare(window, findings)
  } catch (error) {
    // A fault of DynamoDB is not a difference.
    if (!(error instanceof Error) || '$metadata' in error) throw error
    const result = checkResult({ [`cannot be derived: ${error.message}`]: true })
    findings.add(40, { subject: window.date }, result)
  }
}

const compare = async (window: Window, findings: Findings): Promise<void> => {
  const { date, before: end, now } = window
  let isCorrect = true
  const add = (of: Subject, result: CheckResult) => {
    isCorrect &&= result.wrong.length === 0
    findings.add(40, of, result)
  }
  const all = { subject: date }
  const fundsBefore = await findFunds()
  const { opening, entries, close } = await openDay(date, now)
  const closing = new Map(opening)
  const changes: Balances = new Map()
  const paidOut: Balances = new Map()
  for await (const entry of entries) {
    add({ subject: `${entry.type} ${entry.source.id}` }, isEntry(entry))
    post(closing, entry)
    post(changes, entry)
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
    const day = await batchesOfDay(provider, window)
    add({ provider, subject: date }, isPaidOut(provider, paidOut, day.paid))
    fees += day.fees
    paidSince += state.paidSince
  }
  add(all, agrees('fee_income', changes, -fees, 'changed by'))
  const later = (await listFundings()).filter((funding) => funding.date > date)
  const funded = later.reduce((sum, { amount }) => sum + whole(amount), 0n)
  const funds = await findFunds()
  // The cash must not have changed since the entries were read.
  if (funds === fundsBefore) {
    add(all, agrees('cash', closing, whole(funds) - funded + paidSince))
  }
  // Stored balances must not outlive a repair of the table.
  if (isCorrect) await close()
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
    [`the ${when} trial balance is ${formatAmount(whole(trialBalance(balances)))}`]:
      trialBalance(balances) !== 0,
  })

const agrees = (account: Account, balances: Balances, expected: bigint, verb = 'is') => {
  const balance = whole(balanceOf(balances, account))
  return checkResult({
    [`${account} ${verb} ${formatAmount(balance)} in the ledger, but ${formatAmount(expected)} in the table`]:
      balance !== expected,
  })
}

const isPaidOut = (provider: ProviderId, paidOut: Balances, expected: bigint): CheckResult => {
  const paid = whole(balanceOf(paidOut, payable(provider)))
  return checkResult({
    [`payouts are ${formatAmount(paid)} in the ledger, but the nets of their batches give ${formatAmount(expected)}`]:
      paid !== expected,
  })
}

/** Uses other fields of the headers than the ledger does. */
const batchesOfDay = async (provider: ProviderId, { date }: Window) => {
  const isOfDay = (at: Date | null): boolean => at !== null && isWithin(at, spanOf(date))
  const sums = { fees: 0n, paid: 0n }
  for (const batch of await findBatchesWithin(provider, spanOf(date))) {
    const { totals, offsets, sealedAt, completedAt } = batch
    if (!totals) continue
    const net = whole(totals.net)
    if (isOfDay(sealedAt)) {
      const returned = (await listAdjustments(batch.id)).map(({ fee }) => whole(fee))
      sums.fees += returned.reduce(
        (sum, fee) => sum + fee,
        whole(totals.gross) + whole(totals.adjustments) - net,
      )
    }
    if (isOfDay(completedAt) && net > 0n) {
      sums.paid += offsets.reduce((rest, { amount }) => rest - whole(amount), net)
    }
  }
  return sums
}
