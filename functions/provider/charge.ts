import { type Call, endpoint } from '../../shared/api/endpoint.ts'
import type { Success } from '../../shared/api/envelope.ts'
import type { Bank } from '../../shared/domain/banks/bank.ts'
import { accept, fingerprint, noAccount, retryLater } from '../../shared/domain/debits/charge.ts'
import { debitUuid, newReference } from '../../shared/domain/ids.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { allBanks } from '../../shared/store/banks/banks.ts'
import { bankHealth } from '../../shared/store/banks/health.ts'
import { isKnownNumber } from '../../shared/store/banks/unknown-numbers.ts'
import {
  type ClaimedDebit,
  createDebit,
  findByPartnerReference,
  isSameRequest,
} from '../../shared/store/debits/charges.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { currentGeneration } from '../../shared/store/operator/restores.ts'
import type { Answer } from '../../shared/submissions/account-lookup.ts'
import { chargeView } from '../../shared/views/debit.ts'

/** A day has 2,000 million references, so even a second collision is unlikely. */
const ATTEMPTS_MAX = 5

/** Creates a debit (docs/api.md#charge). The relay submits it to the bank. */
export const charge = endpoint('charge', async (call, runtime) => {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const reply = await create(call, runtime)
    if (reply) return reply
  }
  throw new Error('No free reference found')
})

/** Returns undefined if the random reference exists already. */
const create = async (call: Call<'charge'>, runtime: Runtime) => {
  const { input, caller, at, requestId } = call
  const [banks, health, generation] = await Promise.all([
    allBanks(at),
    bankHealth(input.bank_identifier, at),
    currentGeneration(at),
  ])
  const debit = accept(input, {
    provider: caller.provider,
    bank: banks.get(input.bank_identifier),
    bankState: health.state,
    reference: newReference(environment.referencePrefix, at, runtime.random()),
    at,
    requestId,
    generation,
  })
  if (debit instanceof Refusal) return replayOr(debit, call)
  const unknown = await refusalOfNumber(banks.get(input.bank_identifier), call, runtime)
  if (unknown) return replayOr(unknown, call)
  const result = await createDebit(
    { debit, fingerprint: fingerprint(input), dailyLimit: caller.provider.dailyLimit },
    runtime,
  )
  if (result instanceof Refusal) return result
  switch (result.kind) {
    case 'created':
      return { data: chargeView(result.debit) }
    case 'existing':
      return replay(result, call)
    case 'collision':
      return undefined
  }
}

const refusalOf: Record<Answer, () => Refusal | undefined> = {
  found: () => undefined,
  none: noAccount,
  silent: () => retryLater('does not answer'),
}

/** Asks the bank for a number that is unknown here. Only then is the client for banks loaded. */
const refusalOfNumber = async (
  bank: Bank | undefined,
  { input, caller, at }: Call<'charge'>,
  runtime: Runtime,
): Promise<Refusal | undefined> => {
  const phone = input.phone_number
  if (bank?.accountLookup !== 'on' || (await isKnownNumber(phone, bank.identifier))) {
    return undefined
  }
  const { askBank } = await import('../../shared/submissions/account-lookup.ts')
  const answer = await askBank({ bank, phone, provider: caller.provider.id, at }, runtime)
  return refusalOf[answer]()
}

/** Replays the request even if its bank closed since, so that the provider never charges twice. */
const replayOr = async (refusal: Refusal, call: Call<'charge'>): Promise<Success | Refusal> => {
  const { input, caller } = call
  const existing = await findByPartnerReference(caller.provider.id, input.partner_reference)
  return existing ? replay(existing, call) : refusal
}

/**
 * Replies to a repeated partner_reference (docs/api.md#idempotency): the existing debit for the same
 * body, also after it failed; 409/3003 for another body.
 */
const replay = async (claim: ClaimedDebit, { caller, input }: Call<'charge'>) => {
  const { reference } = claim
  const debit = await findDebit(reference)
  // It has expired; its reference never does.
  if (!debit) return new Refusal(3003, { details: { reference, uuid: debitUuid(reference) } })
  const isSame = isSameRequest(debit, claim, fingerprint(input))
  if (!isSame || caller.provider.duplicates === 'reject') {
    const { uuid } = debit.facts
    return new Refusal(3003, { details: { reference, uuid, status: debit.status } })
  }
  return { data: chargeView(debit), headers: { 'Idempotent-Replayed': 'true' } }
}

export const handler = charge(real)
