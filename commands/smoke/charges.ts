import { type ApiReply, type ApiRequest, expectReply, paths } from './api.ts'
import type { Smoke } from './checks.ts'
import type { Objects } from './objects.ts'

/** Maximum until the bank has a debit, or a refund or payout is complete. */
export const SUBMISSION_SECONDS = 30
/** Maximum until a list contains a new debit. */
export const INDEX_SECONDS = 15
/** Maximum until a warm function knows a new bank; it caches banks for 30 s. */
export const BANK_SECONDS = 40

export type ChargedDebit = { reference: string; response: { uuid: string } }
export type GetDebit = () => ChargedDebit

/** Numbers the charges of a run, so that each has its own reference. */
let charges = 0

export const chargeBody = ({ provider, phone, bank }: Objects, more: object = {}) => ({
  phone_number: phone,
  bank_identifier: bank,
  amount: '100.00',
  currency: 'GHS',
  narration: 'Smoke test',
  partner_reference: `${provider}-${++charges}`,
  ...more,
})

/** Retries a charge until the function knows the new bank. */
export const sendCharge = (
  { api, objects, within }: Smoke,
  body: object,
  caller: Partial<ApiRequest> = { token: objects.token },
): Promise<ApiReply> =>
  within(BANK_SECONDS, async () => {
    const reply = await api.send({ path: paths.charge, body, ...caller })
    if (reply.status === 402) expectReply(reply, 202, {})
    return reply
  })

export const charge = async (
  smoke: Smoke,
  body: object,
  caller?: Partial<ApiRequest>,
): Promise<ChargedDebit> => {
  const reply = await sendCharge(smoke, body, caller)
  expectReply(reply, 202, { success: true, data: { status: 'pending' } })
  return reply.body.data as ChargedDebit
}

/** Reads a debit until it has the status. */
export const awaitStatus = (
  { api, objects, within }: Smoke,
  { reference, response }: ChargedDebit,
  { seconds, ...expected }: { status: string; seconds: number; error_details?: object },
  caller: Partial<ApiRequest> = { token: objects.token },
) => {
  const data = { reference, uuid: response.uuid, ...expected }
  return within(seconds, () =>
    api.expect({ path: paths.debit(reference), ...caller }, 200, { data }),
  )
}
