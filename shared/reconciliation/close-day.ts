import type { BankIdentifier } from '../domain/banks/bank.ts'
import { type MovementKind, movementKinds } from '../domain/banks/statement-row.ts'
import { rowOf } from '../domain/debits/exception.ts'
import { formatAmount } from '../domain/money.ts'
import type { BankDay, DayClosing, OpenMatter } from '../domain/operator/day-closing.ts'
import { type Batch, isOpenBatch, payoutDay } from '../domain/settlement/batch.ts'
import {
  type Account,
  type Balances,
  isWithin,
  type LedgerEntry,
  post,
  trialBalance,
} from '../domain/settlement/ledger-entry.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import { openDay, spanOf } from '../ledger/day.ts'
import { type ComparedStatement, listStatements } from '../store/banks/statements.ts'
import { exceptionPages } from '../store/debits/exceptions.ts'
import { listProviders } from '../store/providers/providers.ts'
import { findBatches, listBatchTimes } from '../store/settlement/batches.ts'

/** Collects what is open at the end of a day. Reads the current state of exceptions and batches. */

const NAMED_MAX = 100

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

/** The kinds of entries whose money a bank moved. */
const KINDS: Partial<Record<LedgerEntry['type'], MovementKind>> = {
  completion: 'debit',
  refund: 'refund',
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
      else if (batch.paid) paid.push(batch)
    }
  }
  return { paid, unpaid }
}

const batchReason = (batch: Batch, date: Day): string | undefined => {
  if (isOpenBatch(batch) || !batch.totals) return 'the batch is not sealed'
  if (batch.status === 'failed') return `the payout failed: ${batch.failure}`
  if (batch.status === 'processing') return 'the payout is in progress'
  const isDue = batch.totals.net >= 0 && payoutDay(batch) <= date
  return isDue ? 'the batch is due and not paid' : undefined
}

const openBatches = (unpaid: readonly Batch[], date: Day): OpenMatter[] =>
  unpaid.flatMap((batch) => {
    const reason = batchReason(batch, date)
    const command = `operator settlement show --batch ${batch.id}`
    return reason ? [{ check: 'batch', subject: batch.id, reason, command }] : []
  })

const openExceptions = async (date: Day): Promise<OpenMatter[]> => {
  const open: OpenMatter[] = []
  let others = 0
  const span = { from: new Date(0), before: startOf(dayAfter(date)) }
  for await (const page of exceptionPages('open', span)) {
    for (const { kind, reference } of page) {
      if (open.length >= NAMED_MAX) others += 1
      else {
        const reason = rowOf(kind)?.meaning ?? kind
        const command = `operator exception show --reference ${reference}`
        open.push({ check: 'exception', subject: reference, reason, command })
      }
    }
  }
  if (others === 0) return open
  const command = 'operator exception list --status open'
  const reason = `${others} more exceptions are open`
  return [...open, { check: 'exception', subject: String(others), reason, command }]
}

const movedKinds = ({ moved }: Pick<BankDay, 'moved'>): MovementKind[] =>
  movementKinds.filter((kind) => moved[kind] !== 0n)

const GROUPS = {
  missing_here: 'rows that are missing here',
  missing_at_bank: 'movements that are missing at the bank',
  differs: 'rows that differ',
}

/** Returns why a statement does not confirm what its bank moved. */
const statementReasons = (
  kinds: readonly MovementKind[],
  statement: ComparedStatement | undefined,
): string[] => {
  if (!statement) {
    return kinds.length > 0 ? [`no statement of the bank, which moved ${kinds.join(', ')}`] : []
  }
  const { covers, counts, names } = statement
  return [
    ...kinds
      .filter((kind) => !covers.includes(kind))
      .map((kind) => `the statement has no row of a ${kind}`),
    ...(Object.keys(GROUPS) as (keyof typeof GROUPS)[]).flatMap((group) =>
      counts[group] > 0
        ? [`${GROUPS[group]}: ${counts[group]}, such as ${names[group].join(', ')}`]
        : [],
    ),
  ]
}

const stateOf = (
  reasons: readonly string[],
  statement: ComparedStatement | undefined,
): BankDay['statement'] => {
  if (!statement) return 'missing'
  return reasons.length > 0 ? 'differs' : 'agrees'
}

const banksOf = (moved: Moved, closing: Balances, statements: readonly ComparedStatement[]) => {
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
    const receivable = BigInt(closing.get(`${RECEIVABLE}${bank}`) ?? 0)
    return {
      day: { bank, ...figures, receivable, statement: stateOf(reasons, statement) },
      reasons,
    }
  })
}

const owingOf = (closing: Balances): DayClosing['owing'] =>
  [...closing].flatMap(([account, balance]) =>
    account.startsWith(PAYABLE) && balance > 0
      ? [{ provider: account.slice(PAYABLE.length), balance: BigInt(-balance) }]
      : [],
  )

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
  for (const { paidTo, paid: amount } of paid) {
    if (paidTo) ofBank(moved, paidTo.bank).moved.payout += BigInt(amount ?? 0)
  }
  const banks = banksOf(moved, closing, await listStatements(date))
  const statement = `--statement FILE --date ${date}`
  const balance = trialBalance(closing)
  const open: OpenMatter[] = [
    ...(now < startOf(dayAfter(date))
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
    ...(await openExceptions(date)),
    ...openBatches(unpaid, date),
  ]
  return { date, open, banks: banks.map(({ day }) => day), owing: owingOf(closing) }
}

const newMatter = (
  check: OpenMatter['check'],
  subject: string,
  reason: string,
  command: string,
): OpenMatter => ({ check, subject, reason, command })
