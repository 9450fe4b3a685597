import { type Call, endpoint } from '../../shared/api/endpoint.ts'
import type { Success } from '../../shared/api/envelope.ts'
import { accept, fingerprint } from '../../shared/domain/debits/charge.ts'
import { newReference, type Uuid } from '../../shared/domain/ids.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { allBanks } from '../../shared/store/banks/banks.ts'
import { createDebit, findByPartnerReference } from '../../shared/store/debits/charges.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { currentGeneration } from '../../shared/store/operator/restores.ts'
import { chargeView } from '../../shared/views/debit.ts'

/** Two thousand million references a day: a third draw is as good as never needed. */
const DRAWS_MAX = 5

export const charge = (runtime: Runtime) =>
  endpoint('charge', runtime, async (call) => {
    for (let draw = 1; draw <= DRAWS_MAX; draw += 1) {
      const outcome = await open(call, runtime)
      if (outcome !== 'collision') return outcome
    }
    throw new Error('No free reference found')
  })

const open = async (
  call: Call<'charge'>,
  runtime: Runtime,
): Promise<Success | Refusal | 'collision'> => {
  const { input, caller, at, requestId } = call
  const [banks, generation] = await Promise.all([allBanks(at), currentGeneration(at)])
  const debit = accept(input, {
    provider: caller.provider,
    bank: banks.get(input.bank_identifier),
    reference: newReference(environment.referencePrefix, at, runtime.random()),
    uuid: runtime.newId() as Uuid,
    at,
    requestId,
    generation,
  })
  if (debit instanceof Refusal) return repeatedOr(debit, call)
  const opened = await createDebit(
    { debit, fingerprint: fingerprint(input), dailyLimit: caller.provider.dailyLimit },
    runtime,
  )
  if (opened instanceof Refusal) return opened
  switch (opened.kind) {
    case 'opened':
      return { data: chargeView(opened.debit) }
    case 'existing':
      return repeated(opened, call)
    case 'collision':
      return 'collision'
  }
}

/**
 * A bank may have closed since the charge was accepted. Whoever asks again because an answer was
 * lost must learn of the debit that exists, not be sent off to charge a second time elsewhere.
 */
const repeatedOr = async (refusal: Refusal, call: Call<'charge'>): Promise<Success | Refusal> => {
  const { input, caller } = call
  const existing = await findByPartnerReference(
    caller.provider.id,
    input.partner_reference,
    fingerprint(input),
  )
  return existing ? repeated(existing, call) : refusal
}

type Existing = Pick<
  Extract<Awaited<ReturnType<typeof createDebit>>, { kind: 'existing' }>,
  'reference' | 'sameRequest'
>

/**
 * Answers a repeated partner_reference: the same body gets the existing debit in its current
 * status, also after it failed; another body gets 409/3003.
 */
const repeated = async (
  { reference, sameRequest }: Existing,
  { caller }: Call<'charge'>,
): Promise<Success | Refusal> => {
  const debit = await findDebit(reference)
  if (!debit) throw new Error(`Debit ${reference} is claimed but missing`)
  if (!sameRequest || caller.provider.duplicates === 'reject') {
    const { uuid } = debit.facts
    return new Refusal(3003, { details: { reference, uuid, status: debit.status } })
  }
  return { data: chargeView(debit), headers: { 'Idempotent-Replayed': 'true' } }
}

export const handler = charge(real)
