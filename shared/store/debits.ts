import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import {
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { BankIdentifier } from '../domain/bank.ts'
import type { Debit } from '../domain/debit.ts'
import type { Pesewas } from '../domain/money.ts'
import type { PartnerId } from '../domain/partner.ts'
import type { Reference, Uuid } from '../domain/reference.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Runtime } from '../runtime.ts'
import { reasons, withConflictRetries } from './conflicts.ts'
import { fromDebitItem, toDebitItem, writeEntry } from './debit-item.ts'
import { expiresAt, keys, read, sha256, table, tableName } from './table.ts'

/** The day total outlives every clock and every audit of its day by far, then cleans itself up. */
const DAY_TOTAL_SECONDS = 400 * 86_400

/** What a charge came to: a new debit, or one that the partner's reference already names. */
export type Opened =
  | { kind: 'opened'; debit: Debit }
  | { kind: 'existing'; reference: Reference; sameRequest: boolean }
  /** The reference or the uuid is taken: draw new ones. */
  | { kind: 'collision' }

// The order of the writes of a charge; a cancelled transaction names its reasons by position.
const DEBIT = 0
const PARTNER_REFERENCE = 1
const UUID = 2
const DAY_TOTAL = 3

type Opening = {
  debit: Debit
  /** Text that is equal exactly for equal requests. */
  fingerprint: string
  /** The partner's limit per UTC day; undefined: none is kept. */
  dailyLimit: Pesewas | undefined
}

/**
 * Writes a new debit, its claim on the partner's reference, its uuid pointer and its share of the
 * day total: all or nothing.
 * @returns 400/3005 when the amount does not fit what is left of the daily limit
 */
export const openDebit = async (opening: Opening, runtime: Runtime): Promise<Opened | Refusal> => {
  const { debit } = opening
  try {
    await withConflictRetries(runtime, () =>
      table.send(
        new TransactWriteCommand({
          // The uuid is this command's own: a repeat after a lost answer is the same command.
          ClientRequestToken: debit.facts.uuid,
          TransactItems: openingWrites(opening),
        }),
      ),
    )
    return { kind: 'opened', debit }
  } catch (error) {
    if (error instanceof TransactionCanceledException) return judgeCancelled(opening, error)
    return confirmUnknown(opening, error)
  }
}

const openingWrites = (opening: Opening): TransactWriteCommandInput['TransactItems'] => {
  const { facts } = opening.debit
  const TableName = tableName()
  const isNew = 'attribute_not_exists(pk)'
  return [
    { Put: { TableName, Item: toDebitItem(opening.debit), ConditionExpression: isNew } },
    {
      Put: {
        TableName,
        Item: {
          ...keys.partnerReference(facts.partner, facts.partnerReference),
          reference: facts.reference,
          request: sha256(opening.fingerprint),
        },
        ConditionExpression: isNew,
      },
    },
    {
      Put: {
        TableName,
        Item: { ...keys.uuid(facts.uuid), reference: facts.reference },
        ConditionExpression: isNew,
      },
    },
    ...dayTotalWrite(opening),
  ]
}

const dayTotalWrite = ({ debit: { facts, history }, dailyLimit }: Opening) => {
  if (dailyLimit === undefined || facts.countedOn === undefined) return []
  return [
    {
      Update: {
        TableName: tableName(),
        Key: keys.dayTotal(facts.partner, facts.countedOn),
        UpdateExpression: 'SET expiresAt = :expires ADD amountTotal :amount',
        // An amount over the whole limit can never fit, also where no total stands yet.
        ConditionExpression:
          ':amount <= :limit AND (attribute_not_exists(amountTotal) OR amountTotal <= :room)',
        ExpressionAttributeValues: {
          ':amount': facts.amount,
          ':limit': dailyLimit,
          ':room': dailyLimit - facts.amount,
          ':expires': expiresAt(history[0]?.at ?? new Date(0), DAY_TOTAL_SECONDS),
        },
      },
    },
  ]
}

/** A repeat is told before a limit: what exists already is not limited again. */
const judgeCancelled = async (
  opening: Opening,
  error: TransactionCanceledException,
): Promise<Opened | Refusal> => {
  const failed = reasons(error).map((code) => code === 'ConditionalCheckFailed')
  if (failed[PARTNER_REFERENCE]) {
    const claim = await findClaim(opening.debit)
    if (!claim) throw error
    return judgeClaim(opening, claim)
  }
  if (failed[DEBIT] || failed[UUID]) return { kind: 'collision' }
  if (failed[DAY_TOTAL]) {
    return new Refusal(3005, { details: { amount: ['exceeds what is left of the daily limit'] } })
  }
  throw error
}

/**
 * The answer to the write was lost: what the table says now is the truth. A write that is still on
 * its way is found by the next try, which carries the same partner_reference.
 */
const confirmUnknown = async (opening: Opening, error: unknown): Promise<Opened | Refusal> => {
  const claim = await findClaim(opening.debit)
  if (!claim) throw error
  return judgeClaim(opening, claim)
}

type Claim = { reference: Reference; request: string }

const judgeClaim = (opening: Opening, claim: Claim): Opened =>
  claim.reference === opening.debit.facts.reference
    ? { kind: 'opened', debit: opening.debit }
    : {
        kind: 'existing',
        reference: claim.reference,
        sameRequest: claim.request === sha256(opening.fingerprint),
      }

const findClaim = ({ facts }: Debit): Promise<Claim | undefined> =>
  read<Claim>(keys.partnerReference(facts.partner, facts.partnerReference))

/** What a partner's reference names already, if anything. */
export const findByPartnerReference = async (
  partner: PartnerId,
  partnerReference: string,
  fingerprint: string,
): Promise<{ reference: Reference; sameRequest: boolean } | undefined> => {
  const claim = await read<Claim>(keys.partnerReference(partner, partnerReference))
  return claim && { reference: claim.reference, sameRequest: claim.request === sha256(fingerprint) }
}

/** The debit as it stands, strongly consistent. */
export const findDebit = async (reference: Reference): Promise<Debit | undefined> => {
  const item = await read<Record<string, unknown>>(keys.debit(reference))
  return item && fromDebitItem(item)
}

/** The same, for a partner: what belongs to another does not exist. */
export const findPartnerDebit = async (
  partner: PartnerId,
  reference: Reference,
): Promise<Debit | undefined> => {
  const debit = await findDebit(reference)
  return debit?.facts.partner === partner ? debit : undefined
}

/** The same, for a bank, by the uuid that bank-facing paths carry. */
export const findBankDebit = async (
  bank: BankIdentifier,
  uuid: Uuid,
): Promise<Debit | undefined> => {
  const pointer = await read<{ reference: Reference }>(keys.uuid(uuid))
  const debit = pointer && (await findDebit(pointer.reference))
  return debit?.facts.bank.identifier === bank ? debit : undefined
}

/** Rivals for one debit are few: its bank, its clocks, an operator. */
const RACES_MAX = 5

/**
 * Judges a debit and writes the state that the judgement leads to, if the one it was judged by
 * still stands; else it is read and judged again, so the first write wins and the loser is told.
 * @param judge the next state, the very same debit where nothing is to be written, or a refusal
 */
export const moveDebit = async (
  debit: Debit,
  judge: (now: Debit) => Debit | Refusal,
  runtime: Pick<Runtime, 'random' | 'pause'>,
): Promise<Debit | Refusal> => {
  let now = debit
  for (let race = 1; race <= RACES_MAX; race += 1) {
    const after = judge(now)
    if (after instanceof Refusal || after === now) return after
    if (await commit(now, after, runtime)) return after
    const found = await findDebit(debit.facts.reference)
    if (!found) throw new Error(`Debit ${debit.facts.reference} is gone`)
    now = found
  }
  throw new Error(`Debit ${debit.facts.reference} changed ${RACES_MAX} times meanwhile`)
}

/** @returns false when another write came first */
const commit = async (
  before: Debit,
  after: Debit,
  runtime: Pick<Runtime, 'random' | 'pause'>,
): Promise<boolean> => {
  try {
    await withConflictRetries(runtime, () => writeMove(before, after))
    return true
  } catch (error) {
    if (lostRace(error)) return isCommitted(after)
    throw error
  }
}

const writeMove = (before: Debit, after: Debit): Promise<unknown> => {
  const { partner, countedOn, amount } = after.facts
  const TableName = tableName()
  const update = { TableName, ...moveExpression(before, after) }
  if (after.status !== 'failed' || countedOn === undefined) {
    return table.send(new UpdateCommand(update))
  }
  // A failed debit gives its amount back to its day in the same write.
  return table.send(
    new TransactWriteCommand({
      TransactItems: [
        { Update: update },
        {
          Update: {
            TableName,
            Key: keys.dayTotal(partner, countedOn),
            UpdateExpression: 'ADD amountTotal :back',
            ConditionExpression: 'amountTotal >= :amount',
            ExpressionAttributeValues: { ':back': -amount, ':amount': amount },
          },
        },
      ],
    }),
  )
}

const moveExpression = (before: Debit, after: Debit) => ({
  Key: keys.debit(after.facts.reference),
  UpdateExpression:
    'SET #status = :to, #version = :next, #history = list_append(#history, :entries)',
  ConditionExpression: '#status = :from AND #version = :current',
  ExpressionAttributeNames: { '#status': 'status', '#version': 'version', '#history': 'history' },
  ExpressionAttributeValues: {
    ':from': before.status,
    ':current': before.version,
    ':to': after.status,
    ':next': after.version,
    ':entries': after.history
      .slice(before.history.length)
      .map((entry, n) => writeEntry(entry, after.history[before.history.length + n - 1])),
  },
})

const lostRace = (error: unknown): boolean =>
  error instanceof ConditionalCheckFailedException ||
  (error instanceof TransactionCanceledException && reasons(error)[0] === 'ConditionalCheckFailed')

/** Our own write may have been the one that came first: its answer was lost and it was repeated. */
const isCommitted = async (after: Debit): Promise<boolean> => {
  const now = await findDebit(after.facts.reference)
  const entry = now?.history[after.history.length - 1]
  const ours = after.history.at(-1)
  return (
    entry !== undefined &&
    entry.requestId === ours?.requestId &&
    entry.type === ours.type &&
    entry.at.getTime() === ours.at.getTime()
  )
}
