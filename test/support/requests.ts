import { createHmac, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type OperationName, operations } from '../../shared/api/operations.ts'

/** Paths, bodies and signatures of requests. */

export const CHARGE = '/api/v1/payment-providers/debit-requests/charge'
export const statusPath = (reference: string) =>
  `/api/v1/payment-providers/debit-requests/${reference}`
export const redeliverPath = (id: unknown) => `/api/v1/payment-providers/deliveries/${id}/redeliver`

export const deliveriesPath = (reference: string) =>
  `/api/v1/payment-providers/debit-requests/${reference}/deliveries`
export const updatePath = (uuid: string) => `/api/v1/banks/debit-transactions/${uuid}/update`
export const callbackPath = (uuid: string) => `/api/v1/banks/debit-transactions/${uuid}/callback`

/** Returns the path of an operation with these parameters, else with those of no object. */
export const pathOf = (name: OperationName, given: Record<string, string> = {}): string => {
  const ids = { reference: 'DCS-20261121-ABC123', id: 'STL-20261122-ABC123', uuid: NO_UUID }
  const banks = { identifier: 'GCB', phone_number: '%2B233241234567', month: '2026-11' }
  const values: Record<string, string> = { ...ids, ...banks, ...given }
  return operations[name].path.replaceAll(/\{(\w+)\}/g, (_, key) => values[key] ?? '')
}

export const NO_UUID = '8b3f1f6e-7f0a-4b44-9d6e-1f4f5d1a2b3c'

/** The sandbox bank accepts debits of this number and never reports them. */
export const SILENT = '+233244444444'

/** The sandbox bank has no account of this number: its debits fail at once. */
export const FAILS_AT_ONCE = '+233240000001'

/** Returns the body of an ordinary charge with a new partner reference. */
export const chargeBody = (fields: Record<string, unknown> = {}) => ({
  phone_number: '+233241234567',
  bank_identifier: 'GCB',
  amount: '100.00',
  currency: 'GHS',
  narration: 'Order 1',
  partner_reference: `order-${randomUUID()}`,
  ...fields,
})

type Signing = { method?: string; path: string; body?: string; secret?: string }

/** Returns the headers of a signed request of the provider `signed`. */
export const sign = ({
  method = 'GET',
  path,
  body = '',
  secret = 'rs_sandbox_signed',
}: Signing) => {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signed = `${method}${path}${timestamp}${body}`
  const signature = createHmac('sha256', secret).update(signed).digest('hex')
  return { 'X-Timestamp': timestamp, 'X-Signature': signature }
}

/** Returns the sample event of a function from events/. */
export const sampleEvent = async (name: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(new URL(`../../events/${name}.json`, import.meta.url), 'utf8'))
