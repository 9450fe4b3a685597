import { createInterface } from 'node:readline'
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

/**
 * Makes the calls of standard input with the types that openapi-typescript generated, one line of JSON
 * each. test/proofs/foreign-clients.proof.ts copies this file next to them and compiles both.
 */

const [, , address = ''] = process.argv

const clientOf = (credential: string) =>
  createClient<paths>({ baseUrl: address, headers: { Authorization: `Bearer ${credential}` } })

type Debit = components['schemas']['DebitDetail']

/** Reads members of replies as their types. */
const typed = async (credential: string, partnerReference: string): Promise<unknown> => {
  const api = clientOf(credential)
  const body: components['schemas']['ChargeFields'] = {
    phone_number: '+233241234567',
    bank_identifier: 'GCB',
    amount: '100.00',
    currency: 'GHS',
    narration: 'Order 1',
    partner_reference: partnerReference,
    metadata: { cart: 77 },
  }
  const charged = await api.POST('/api/v1/payment-providers/debit-requests/charge', { body })
  const reference: string = charged.data?.data.reference ?? ''
  const path = { reference }
  const read = await api.GET('/api/v1/payment-providers/debit-requests/{reference}', {
    params: { path },
  })
  const debit: Debit | undefined = read.data?.data
  const refund: components['schemas']['Refund'] | null | undefined = debit?.refund
  const batch: string | undefined = debit?.settlement?.batch_id
  const lists: string[] = []
  for (let cursor: string | undefined; lists.length < 2; ) {
    const query = { per_page: 1, ...(cursor ? { cursor } : {}) }
    const page = await api.GET('/api/v1/payment-providers/debit-requests', { params: { query } })
    lists.push(...(page.data?.data ?? []).map((one) => one.reference))
    cursor = page.data?.meta.next_cursor ?? undefined
    if (!cursor) break
  }
  const feed = await api.GET('/api/v1/payment-providers/events', {})
  const statuses = (feed.data?.data ?? []).flatMap((event) =>
    event.event === 'transaction.completed' && 'transaction' in event.data
      ? [event.data.transaction.status]
      : [],
  )
  const unknown = await api.GET('/api/v1/payment-providers/debit-requests/{reference}', {
    params: { path: { reference: 'DCS-20261121-ABC123' } },
  })
  const code: number | undefined = unknown.error?.error.code
  return { reference, status: debit?.status, refund, batch, lists, statuses, code }
}

type Row = {
  method: 'GET'
  path: '/api/v1/payment-providers/banks'
  credential: string
  init: object
  parseAs: 'json' | 'text'
  typed?: string
}

for await (const line of createInterface(process.stdin)) {
  // The rows have any path, whose types only the calls above check.
  const { method, path, credential, init, parseAs, typed: order } = JSON.parse(line) as Row
  if (order) {
    process.stdout.write(`${JSON.stringify(await typed(credential, order))}\n`)
    continue
  }
  const reply = await clientOf(credential).request(
    method.toLowerCase() as 'get',
    path as '/api/v1/payment-providers/banks',
    { ...init, parseAs },
  )
  const { status } = reply.response
  const body: unknown = reply.data ?? reply.error
  process.stdout.write(`${JSON.stringify({ status, body, same: body !== undefined })}\n`)
}
