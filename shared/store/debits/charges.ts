import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { aboveDailyLimit } from '../../domain/debits/charge.ts'
import type { Debit } from '../../domain/debits/debit.ts'
import type { Reference } from '../../domain/ids.ts'
import { type Pesewas, pesewas } from '../../domain/money.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import { keys, sha256 } from '../keys.ts'
import { expiresAt, read, table, tableName } from '../table.ts'
import { failedConditions, withConflictRetries } from '../transactions.ts'
import { findDayTotal } from './day-totals.ts'
import { toDebitItem } from './debit-item.ts'

/** The day total outlives every clock and every audit of its day by far, then cleans itself up. */
const DAY_TOTAL_SECONDS = 400 * DAY_SECONDS

/** What a charge came to: a new debit, or one that the provider's reference already names. */
export type CreateResult =
  | { kind: 'opened'; debit: Debit }
  | { kind: 'existing'; reference: Reference; sameRequest: boolean }
  /** The reference or the uuid is taken: draw new ones. */
  | { kind: 'collision' }

// Where the writes of a charge stand; a cancelled transaction names its reasons by position. The
// claim on the provider's reference, at 1, is read whatever else is named.
const DEBIT = 0
const UUID = 2
const DAY_TOTAL = 3

type NewDebit = {
  debit: Debit
  /** Text that is equal exactly for equal requests. */
  fingerprint: string
  /** The provider's limit per UTC day; undefined: there is none. */
  dailyLimit: Pesewas | undefined
}

/**
 * Writes a new debit, its claim on the provider's reference, its uuid pointer and its share of the
 * day total: all or nothing.
 * @returns 400/3005 when the amount does not fit what is left of the daily limit
 */
export const createDebit = async (
  opening: NewDebit,
  runtime: Runtime,
): Promise<CreateResult | Refusal> => {
  const { debit } = opening
  try {
    await withConflictRetries(runtime, () =>
      table.send(
        new TransactWriteCommand({
          // A repeat after a lost answer is the same command.
          ClientRequestToken: tokenOf(opening),
          TransactItems: creationWrites(opening),
        }),
      ),
    )
    return { kind: 'opened', debit }
  } catch (error) {
    if (error instanceof TransactionCanceledException) return explainCancelled(opening, error)
    return confirmUnknown(opening, error)
  }
}

const TOKEN_LENGTH_MAX = 36

const tokenOf = ({ debit: { facts }, fingerprint }: NewDebit): string =>
  sha256(`${facts.reference}${facts.uuid}${fingerprint}`).slice(0, TOKEN_LENGTH_MAX)

const creationWrites = (opening: NewDebit): TransactWriteCommandInput['TransactItems'] => {
  const { facts } = opening.debit
  const TableName = tableName()
  const isNew = 'attribute_not_exists(pk)'
  return [
    { Put: { TableName, Item: toDebitItem(opening.debit), ConditionExpression: isNew } },
    {
      Put: {
        TableName,
        Item: {
          ...keys.partnerReference(facts.provider, facts.partnerReference),
          reference: facts.reference,
          request: sha256(opening.fingerprint),
        },
        ConditionExpression: isNew,
      },
    },
    {
      Put: {
        TableName,
        // With the facts, a bank's report is judged without another read; metadata is no part of
        // the judgement, unless the report brings some itself.
        Item: { ...facts, metadata: undefined, ...keys.uuid(facts.uuid) },
        ConditionExpression: isNew,
      },
    },
    ...dayTotalWrite(opening),
  ]
}

/** An amount over the whole limit can never fit, also where no total stands yet. */
const fits = (amount: Pesewas, dailyLimit: Pesewas): string =>
  amount <= dailyLimit
    ? 'attribute_not_exists(amountTotal) OR amountTotal <= :room'
    : 'amountTotal <= :room'

const dayTotalWrite = ({ debit: { facts, history }, dailyLimit }: NewDebit) => {
  if (facts.countedOn === undefined) return []
  return [
    {
      Update: {
        TableName: tableName(),
        Key: keys.dayTotal(facts.provider, facts.countedOn),
        UpdateExpression: 'SET expiresAt = :expires ADD amountTotal :amount',
        ...(dailyLimit === undefined
          ? {}
          : { ConditionExpression: fits(facts.amount, dailyLimit) }),
        ExpressionAttributeValues: {
          ':amount': facts.amount,
          ...(dailyLimit === undefined ? {} : { ':room': dailyLimit - facts.amount }),
          ':expires': expiresAt(history[0]?.at ?? new Date(0), DAY_TOTAL_SECONDS),
        },
      },
    },
  ]
}

/**
 * A repeat is told before anything else: what exists already is neither limited again nor in the
 * way of itself, whichever condition DynamoDB named.
 */
const explainCancelled = async (
  opening: NewDebit,
  error: TransactionCanceledException,
): Promise<CreateResult | Refusal> => {
  const failed = failedConditions(error)
  if (!failed.includes(true)) throw error
  const claim = await findClaim(opening.debit)
  if (claim) return resultOfClaim(opening, claim)
  if (failed[DEBIT] || failed[UUID]) return { kind: 'collision' }
  const { provider, countedOn } = opening.debit.facts
  if (!failed[DAY_TOTAL] || countedOn === undefined) throw error
  // The refusal shows the rest of the limit, as it is now.
  const total = (await findDayTotal(provider, countedOn)) ?? 0
  return aboveDailyLimit(pesewas(Math.max(0, (opening.dailyLimit ?? 0) - total)), countedOn)
}

/**
 * The answer to the write was lost: what the table says now is the truth. A write that is still on
 * its way is found by the next try, which carries the same partner_reference.
 */
const confirmUnknown = async (
  opening: NewDebit,
  error: unknown,
): Promise<CreateResult | Refusal> => {
  const claim = await findClaim(opening.debit)
  if (!claim) throw error
  return resultOfClaim(opening, claim)
}

type Claim = { reference: Reference; request: string }

const resultOfClaim = (opening: NewDebit, claim: Claim): CreateResult =>
  claim.reference === opening.debit.facts.reference
    ? { kind: 'opened', debit: opening.debit }
    : {
        kind: 'existing',
        reference: claim.reference,
        sameRequest: claim.request === sha256(opening.fingerprint),
      }

const findClaim = ({ facts }: Debit): Promise<Claim | undefined> =>
  read<Claim>(keys.partnerReference(facts.provider, facts.partnerReference))

/** What a provider's reference names already, if anything. */
export const findByPartnerReference = async (
  provider: ProviderId,
  partnerReference: string,
  fingerprint: string,
): Promise<{ reference: Reference; sameRequest: boolean } | undefined> => {
  const claim = await read<Claim>(keys.partnerReference(provider, partnerReference))
  return claim && { reference: claim.reference, sameRequest: claim.request === sha256(fingerprint) }
}
