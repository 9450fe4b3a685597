import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { defined } from '../../domain/complete.ts'
import { aboveDailyLimit } from '../../domain/debits/charge.ts'
import type { Debit } from '../../domain/debits/debit.ts'
import type { Reference } from '../../domain/ids.ts'
import { type Pesewas, pesewas } from '../../domain/money.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import { withConflictRetries } from '../conflicts.ts'
import { keys, sha256 } from '../keys.ts'
import * as db from '../table.ts'
import { failedConditions } from '../transactions.ts'
import { toDebitItem } from './debit-item.ts'

/** A day total expires long after the timeouts and audits of its day. */
const DAY_TOTAL_SECONDS = 400 * DAY_SECONDS

/** The debit that a provider's reference names, and the hash of its request until an erasure. */
export type ClaimedDebit = { reference: Reference; request?: string }

/**
 * Hashes a request with the random id that only its debit has. The claim outlives the debit: a trial of all
 * numbers must not find the customer then.
 */
const requestHash = ({ history }: Debit, fingerprint: string): string =>
  sha256(`${history[0]?.requestId} ${fingerprint}`)

/** Reports whether an equal request created the debit. Earlier versions hashed it alone. */
export const isSameRequest = (
  debit: Debit,
  { request }: ClaimedDebit,
  fingerprint: string,
): boolean => request === requestHash(debit, fingerprint) || request === sha256(fingerprint)

type CreateResult =
  | { kind: 'created'; debit: Debit }
  /** The provider's reference names another debit. */
  | ({ kind: 'existing' } & ClaimedDebit)
  /** The reference is taken. */
  | { kind: 'collision' }

// Positions of the writes of a charge. Position 1, the claim on the provider's reference, is always read.
const DEBIT = 0
const DAY_TOTAL = 2

type NewDebit = {
  debit: Debit
  /** Text that is equal for equal requests only. */
  fingerprint: string
  /** The provider's limit per UTC day; undefined: no limit. */
  dailyLimit: Pesewas | undefined
}

/**
 * Writes a new debit, its claim on the provider's reference and its amount in the day total in one
 * transaction.
 * @returns 400/3005 when the amount exceeds the rest of the daily limit (docs/api.md#daily-limit)
 */
export const createDebit = async (
  newDebit: NewDebit,
  runtime: Runtime,
): Promise<CreateResult | Refusal> => {
  const { debit } = newDebit
  try {
    // The token lets DynamoDB detect a repeated command after a lost response.
    const ClientRequestToken = tokenOf(newDebit)
    const input = { ClientRequestToken, TransactItems: creationWrites(newDebit) }
    await withConflictRetries(() => db.table.send(new TransactWriteCommand(input)), runtime)
    return { kind: 'created', debit }
  } catch (error) {
    if (error instanceof TransactionCanceledException) return explainCancelled(newDebit, error)
    return confirmUnknown(newDebit, error)
  }
}

const TOKEN_LENGTH_MAX = 36

/** Two requests that drew the same reference have different tokens: the second one collides. */
const tokenOf = ({ debit: { facts, history } }: NewDebit): string =>
  sha256(`${facts.reference}${history[0]?.requestId}`).slice(0, TOKEN_LENGTH_MAX)

const creationWrites = (newDebit: NewDebit): db.Write[] => {
  const { facts } = newDebit.debit
  return [
    db.putWrite(toDebitItem(newDebit.debit), db.isNew),
    db.putWrite(
      {
        ...keys.partnerReference(facts.provider, facts.partnerReference),
        reference: facts.reference,
        request: requestHash(newDebit.debit, newDebit.fingerprint),
      },
      db.isNew,
    ),
    ...dayTotalWrite(newDebit),
  ]
}

/** Rejects an amount above the whole limit also where no total exists. */
const fits = (amount: Pesewas, dailyLimit: Pesewas): string =>
  amount <= dailyLimit
    ? 'attribute_not_exists(amountTotal) OR amountTotal <= :room'
    : 'amountTotal <= :room'

const dayTotalWrite = ({ debit: { facts, history }, dailyLimit }: NewDebit): db.Write[] => {
  if (facts.countedOn === undefined) return []
  return [
    db.updateWrite(keys.dayTotal(facts.provider, facts.countedOn), {
      UpdateExpression: 'SET expiresAt = :expires ADD amountTotal :amount, charges :one',
      ...(dailyLimit !== undefined && { ConditionExpression: fits(facts.amount, dailyLimit) }),
      ExpressionAttributeValues: {
        ':amount': facts.amount,
        ':one': 1,
        ...(dailyLimit !== undefined && { ':room': dailyLimit - facts.amount }),
        ':expires': db.expiresAt(history[0]?.at ?? new Date(0), DAY_TOTAL_SECONDS),
      },
    }),
  ]
}

/** Checks for a replay first, so that no limit rejects an existing debit. */
const explainCancelled = async (
  newDebit: NewDebit,
  error: TransactionCanceledException,
): Promise<CreateResult | Refusal> => {
  const failed = failedConditions(error)
  const claim = await findClaim(newDebit)
  if (claim) return resultOfClaim(newDebit, claim)
  if (failed[DEBIT]) return { kind: 'collision' }
  const { provider, countedOn } = newDebit.debit.facts
  if (!failed[DAY_TOTAL] || countedOn === undefined) throw error
  const total = (await findDayTotal(provider, countedOn)) ?? 0
  return aboveDailyLimit(pesewas(Math.max(0, (newDebit.dailyLimit ?? 0) - total)), countedOn)
}

/**
 * Reads the outcome of a write whose response was lost. If the write is still in flight, the caller's
 * retry with the same partner_reference finds it.
 */
const confirmUnknown = async (newDebit: NewDebit, error: unknown) => {
  const claim = await findClaim(newDebit)
  if (!claim) throw error
  return resultOfClaim(newDebit, claim)
}

const resultOfClaim = ({ debit }: NewDebit, claim: ClaimedDebit): CreateResult =>
  claim.reference === debit.facts.reference
    ? { kind: 'created', debit }
    : { kind: 'existing', ...claim }

const findClaim = ({ debit: { facts } }: NewDebit) =>
  findByPartnerReference(facts.provider, facts.partnerReference)

export const findByPartnerReference = async (
  provider: ProviderId,
  partnerReference: string,
): Promise<ClaimedDebit | undefined> => {
  const claim = await db.read<ClaimedDebit>(keys.partnerReference(provider, partnerReference))
  return claim && { reference: claim.reference, ...defined({ request: claim.request }) }
}

/** Returns the counted pesewas of a provider and UTC day; undefined without a counter. */
export const findDayTotal = async (provider: ProviderId, day: string) =>
  (await db.read<{ amountTotal?: number }>(keys.dayTotal(provider, day)))?.amountTotal
