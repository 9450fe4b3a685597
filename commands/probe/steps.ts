import * as v from 'valibot'
import { expectParts, Mismatch } from '../expect.ts'
import { type Api, newApi, paths } from '../smoke/api.ts'

/** The steps of a probe: calls of a provider through the public address of a stage. */

/** The secret of a probe, as JSON. */
export const ProbeSecret = v.object({
  /** Base address of the API. */
  api: v.pipe(v.string(), v.url()),
  /** Of the provider of the probe. */
  token: v.string(),
  webhook_secret: v.string(),
  /** A bank with the connector `sandbox`, and a phone number whose debits complete. */
  bank: v.optional(v.string()),
  phone: v.optional(v.string()),
})
export type ProbeSecret = v.InferOutput<typeof ProbeSecret>

const MINUTE_MS = 60_000
/** After two minutes the debit of a run has completed, and its webhooks have arrived. */
const OUTCOME_MINUTES = 2

export type ProbeRun = {
  /** Whether the stage has the sandbox bank: elsewhere a probe moves no money. */
  charges: boolean
  at: Date
  signal: AbortSignal
}

/**
 * Reads the banks. With the sandbox bank it charges, and expects the debit of two minutes earlier to
 * be completed and its webhook delivered; else it expects a ping to be delivered. Deliveries succeed
 * only if the receiver has verified them.
 * @throws Mismatch
 */
export const runProbe = async (secret: ProbeSecret, { charges, at, signal }: ProbeRun) => {
  const { token, bank, phone } = secret
  const api = newApi(secret.api.replace(/\/+$/, ''), signal)
  const banks = await api.read<{ identifier: string }[]>(paths.banks, token)
  if (charges) {
    if (!bank || !phone) throw new Mismatch('bank and phone in the secret', 'none')
    if (!banks.some(({ identifier }) => identifier === bank))
      throw new Mismatch(`the bank ${bank}`, `${banks.length} others`)
    const minute = Math.floor(at.getTime() / MINUTE_MS)
    await charge(api, { token, bank, phone, reference: `probe-${minute}` })
    await expectOutcome(api, token, `probe-${minute - OUTCOME_MINUTES}`)
  } else {
    const data = { event: 'ping', delivered: true }
    await api.expect({ method: 'POST', path: paths.ping, token }, 200, { data })
  }
  const [problem] = api.problems
  if (problem) throw new Mismatch('the published form of a reply', problem)
}

type ProbeCharge = { token: string; bank: string; phone: string; reference: string }

const charge = (api: Api, { token, bank, phone, reference }: ProbeCharge) => {
  const body = {
    phone_number: phone,
    bank_identifier: bank,
    amount: '1.00',
    currency: 'GHS',
    narration: 'Probe',
    partner_reference: reference,
  }
  return api.expect({ path: paths.charge, token, body }, 202, { success: true })
}

const expectOutcome = async (api: Api, token: string, partnerReference: string): Promise<void> => {
  const path = `${paths.debits}?partner_reference=${partnerReference}`
  const [debit] = await api.read<{ reference: string; status: string }[]>(path, token)
  expectParts(debit, { status: 'completed' })
  const records = await api.read<{ event: string; status: string }[]>(
    paths.deliveries(debit?.reference ?? ''),
    token,
  )
  const completed = records.find(({ event }) => event === 'transaction.completed')
  expectParts(completed, { status: 'delivered' })
}
