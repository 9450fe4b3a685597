import { randomUUID } from 'node:crypto'
import { anyOptions, type Row } from './description.ts'

/** Requests of providers and banks, and those that each operation refuses in its own way. */

/** Returns a charge with a new reference. */
export const order = (fields = {}) => ({
  body: {
    phone_number: '+233241234567',
    bank_identifier: 'GCB',
    amount: '100.00',
    currency: 'GHS',
    narration: 'Order 1',
    partner_reference: `order-${randomUUID()}`,
    ...fields,
  },
})

export const completedReport = () => ({
  status: 'completed',
  bank_reference: `B-${Math.random()}`,
  approval_method: 'ussd',
})

export const failedReport = () => ({
  status: 'failed',
  bank_reference: `B-${Math.random()}`,
  error_message: 'Declined',
})

const NO_DEBIT = '8b3f1f6e-7f0a-4b44-9d6e-1f4f5d1a2b3c'

/** @param refused the answer to values that a client itself refuses */
export const refusalRows = (refused?: string): Row[] => {
  const existing = order().body
  let metadata: object = {}
  for (let depth = 0; depth < 40; depth += 1) metadata = { metadata }
  const uuid = NO_DEBIT
  const reference = 'DCS-20261121-ABC123'
  const [page, cursor] = [{ per_page: 1_000 }, { cursor: 'x' }]
  return [
    ['charge', { body: existing }, '202'],
    ['charge', { body: { ...existing, narration: 'Other' } }, '409/3003'],
    ['charge', order({ metadata }), '400/1400'],
    ['charge', order({ currency: 'NGN' }), refused ?? '400/3004'],
    ['charge', order({ bank_identifier: 'CAL', amount: '501.00' }), '400/3005'],
    ['charge', order({ amount: '0.50' }), '400/3007'],
    ['charge', order({ bank_identifier: 'NIB' }), '402/1402'],
    ['charge', order({ bank_identifier: 'ADB', phone_number: '+233207000000' }), '404/1404'],
    ['charge', order({ narration: '' }), '422/1007'],
    ['charge', order({ bank_identifier: 'UMB' }), '503/2003'],
    ['getDebitRequest', { reference }, '404/3404'],
    ['updateDebitTransaction', { uuid, body: completedReport() }, '404/1404'],
    ['updateDebitTransaction', { uuid, body: { ...completedReport(), metadata } }, '400/1400'],
    ['debitCallback', { uuid, body: { ...completedReport(), metadata } }, '400/1400'],
    ['updateDebitTransaction', { uuid, body: { ...completedReport(), fee: '-1.00' } }, '422/1007'],
    ['debitCallback', { uuid, body: completedReport() }, '404/1404'],
    ['debitCallback', { uuid, body: { ...completedReport(), fee: '-1.00' } }, '422/1007'],
    ['listDebitRequests', page, '422/1007'],
    ['listDebitTransactions', { phone_number: '+233241234567', ...page }, '422/1007'],
    ['listBanks', page, '422/1007'],
    ['getBank', { identifier: 'NONE' }, '404/1404'],
    ['lookupCustomerBanks', { phone_number: '+233209999999' }, '404/1404'],
    ['requestReversal', { reference, body: { reason: 'Late' } }, '404/3404'],
    ['listDeliveries', { reference }, '404/3404'],
    ['redeliverEvent', { id: 'dlv_1_a' }, '404/1404'],
    ['listEvents', cursor, '422/1007'],
    ['listSettlements', cursor, '422/1007'],
    ['getSettlement', { id: 'STL-20201122-ABC123' }, '404/5404'],
    ['getSettlementReport', { id: 'STL-20201122-ABC123' }, '404/5404'],
    ['getMonthlyStatement', { month: '2026-13' }, '404/5404'],
    ['getSettlementReport', { id: 'STL-20201122-ABC123', format: 'pdf' }, refused ?? '422/1007'],
    ['getMonthlyStatement', { month: '2026-11', format: 'pdf' }, refused ?? '422/1007'],
  ]
}

/** Requests above ten megabytes. */
export const largeRows = (): Row[] => {
  const large = 'x'.repeat(11_000_000)
  const bodies = {
    charge: order({ narration: large }).body,
    updateDebitTransaction: { ...completedReport(), bank_reference: large },
    debitCallback: { ...completedReport(), bank_reference: large },
    requestReversal: { reason: large },
  }
  return Object.entries(bodies).map(([name, body]) => [
    name,
    { ...anyOptions(name), body },
    '413/1400',
  ])
}
