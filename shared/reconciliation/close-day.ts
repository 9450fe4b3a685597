import type { BankIdentifier } from '../domain/banks/bank.ts'
import { type MovementKind, movementKinds } from '../domain/banks/statement-row.ts'
import { formatAmount } from '../domain/money.ts'
import type { BankDay, DayClosing, OpenMatter } from '../domain/operator/day-closing.ts'
import { agesOf, type RecentChanges } from '../domain/settlement/ages.ts'
import { type Batch, payingBank } from '../domain/settlement/batch.ts'
import {
  type Account,
  type Balances,
  balanceOf,
  type EntryType,
  isWithin,
  type LedgerEntry,
  post,
  trialBalance,
} from '../domain/settlement/ledger-entry.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import { changesUntil } from '../ledger/ages.ts'
import { openDay, spanOf } from '../ledger/day.ts'
import { listProviders } from '../store/providers/providers.ts'
import { findBatches, listBatchTimes } from '../store/settlement/batches.ts'
import { type DayStatement, loadStatements, statementReasons, stateOf } from './day-statements.ts'
import { newMatter, openBatches, openExceptions } from './open-matters.ts'

/** Collects what is open at the end of a day. Reads the current state of exceptions and batches. */

type Moved = Map<BankIdentifier, Pick<BankDay, 'moved' | 'remitted'>>

const ofBank = (moved: Moved, bank: BankIdentifier) => {
  const found = moved.get(bank)
  if (found) return found
  const created = { moved: { debit: 0n, refund: 0n, payout: 0n }, remitted: 0n }
  moved.set(bank, created)
  return created
}

const RECEIVABLE = 'bank_receivable:'
const PAYABLE = 'provider_payable:'

const bankOf = (account: Account): BankIdentifier | undefined =>
  account.startsWith(RECEIVABLE) ? (account.slice(RECEIVABLE.length) as BankIdentifier) : undefined

/** The kind of an entry whose money a bank moved by its statement. Batches have the payouts. */
const KINDS: Record<EntryType, MovementKind | null> = {
  completion: 'debit',
  late_completion: 'debit',
  refund: 'refund',
  fees: null,
  reversal: null,
  resolution: null,
  refund_opened: null,
  repayment: null,
  payout: null,
  provider_payment: null,
  funding: null,
  funding_correction: null,
}

const addEntry = (moved: Moved, { type, debit, credit, amount }: LedgerEntry): void => {
  const kind = KINDS[type]
  const bank = bankOf(debit) ?? bankOf(credit)
  if (!bank) return
  if (kind) ofBank(moved, bank).moved[kind] += BigInt(amount)
  const isRemittance = debit === 'cash' || credit === 'cash'
  if (isRemittance) ofBank(moved, bank).remitted += BigInt(debit === 'cash' ? amount : -amount)
}

/** Returns the batches that were paid on the day, and those of earlier days that are not completed. */
const batchesOf = async (date: Day) => {
  const span = spanOf(date)
  const paid: Batch[] = []
  const unpaid: Batch[] = []
  for (const provider of await listProviders()) {
    const times = (await listBatchTimes(provider)).filter(({ completedAt, date: opened }) =>
      completedAt === null ? opened <= date : isWithin(completedAt, span),
    )
    for (const batch of await findBatches(times.map(({ id }) => id))) {
      if (batch.completedAt === null) unpaid.push(batch)
      // The index may lag.
      else if (batch.paid && isWithin(batch.completedAt, span)) paid.push(batch)
    }
  }
  return { paid, unpaid }
}

const movedKinds = ({ moved }: Pick<BankDay, 'moved'>): MovementKind[] =>
  movementKinds.filter((kind) => moved[kind] !== 0n)

type Debts = { closing: Balances; changes: RecentChanges }

const banksOf = (
  moved: Moved,
  { closing, changes }: Debts,
  statements: readonly DayStatement[],
) => {
  const byBank = new Map(statements.map((statement) => [statement.bank, statement]))
  const withBalance = [...closing].flatMap(([account, balance]) => {
    const bank = bankOf(account)
    return bank && balance !== 0 ? [bank] : []
  })
  const banks = new Set([...moved.keys(), ...byBank.keys(), ...withBalance])
  return [...banks].sort().map((bank) => {
    const figures = ofBank(moved, bank)
    const statement = byBank.get(bank)
    const reasons = statementReasons(movedKinds(figures), statement)
    const account: Account = `${RECEIVABLE}${bank}`
    const receivable = BigInt(balanceOf(closing, account))
    const ages = agesOf(account, receivable, changes)
    return {
      day: { bank, ...figures, receivable, ages, statement: stateOf(reasons, statement) },
      reasons,
    }
  })
}

const owingOf = ({ closing, changes }: Debts): DayClosing['owing'] =>
  [...closing].flatMap(([account, balance]) => {
    if (!account.startsWith(PAYABLE) || balance <= 0) return []
    const ages = agesOf(account, BigInt(balance), changes)
    return [{ provider: account.slice(PAYABLE.length), balance: BigInt(-balance), ages }]
  })

/** Reports what of a day is open besides the reconciliation of the table. */
export const closeDay = async (date: Day, now: Date): Promise<DayClosing> => {
  const moved: Moved = new Map()
  const { opening, entries } = await openDay(date)
  const closing = new Map(opening)
  for await (const entry of entries) {
    post(closing, entry)
    addEntry(moved, entry)
  }
  const { paid, unpaid } = await batchesOf(date)
  for (const batch of paid) {
    const bank = payingBank(batch)
    if (bank) ofBank(moved, bank).moved.payout += BigInt(batch.paid ?? 0)
  }
  const debts = { closing, changes: await changesUntil(date) }
  const end = startOf(dayAfter(date))
  const banks = banksOf(moved, debts, await loadStatements(date, now))
  const statement = `--statement FILE --date ${date}`
  const balance = trialBalance(closing)
  const open: OpenMatter[] = [
    ...(now < end
      ? [newMatter('day', date, 'the day has not ended', `operator day close --date ${date}`)]
      : []),
    ...(balance === 0
      ? []
      : [
          newMatter(
            'ledger',
            date,
            `the trial balance is ${formatAmount(BigInt(balance))}`,
            `operator ledger --date ${date}`,
          ),
        ]),
    ...banks.flatMap(({ day: { bank }, reasons }) =>
      reasons.map((reason) =>
        newMatter('statement', bank, reason, `operator reconcile --bank ${bank} ${statement}`),
      ),
    ),
    ...(await openExceptions({ before: end })),
    ...(await openBatches(unpaid, date)),
  ]
  return { date, open, banks: banks.map(({ day }) => day), owing: owingOf(debts) }
}
