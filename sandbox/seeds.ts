import type { NounName, OptionsOf, VerbName } from '../shared/operator/results.ts'
import type { FunctionHost } from './function-host.ts'

/** Creates the demo providers, banks and customers of a new sandbox with operator functions. */

const call = <N extends NounName, V extends VerbName<N>>(
  noun: N,
  verb: V,
  options: OptionsOf<N, V>,
) => ({ noun, verb, options })

const bank = (identifier: string, name: string, more: Partial<OptionsOf<'bank', 'create'>> = {}) =>
  call('bank', 'create', {
    bank: identifier,
    name,
    connector: 'sandbox',
    'connector-type': 'both',
    ...more,
  })

const banks = [
  bank('GCB', 'GCB Bank PLC', { 'ussd-code': '*422#', 'package-name': 'com.gcb.mobile' }),
  bank('ECO', 'Ecobank Ghana PLC', { 'ussd-code': '*770#', 'package-name': 'com.ecobank.mobile' }),
  bank('ABSA', 'Absa Bank Ghana Limited', { 'ussd-code': '*151#' }),
  bank('ADB', 'Agricultural Development Bank PLC', { 'ussd-code': '*767#' }),
  bank('CAL', 'CalBank PLC', { 'ussd-code': '*771#', maximum: '500.00' }),
  bank('FBL', 'Fidelity Bank Ghana Limited', { 'ussd-code': '*776#' }),
  bank('NIB', 'National Investment Bank Limited', { status: 'inactive' }),
  bank('SBG', 'Stanbic Bank Ghana Limited', { 'ussd-code': '*715#' }),
  bank('SCB', 'Standard Chartered Bank Ghana PLC', { 'ussd-code': '*766#' }),
  bank('UMB', 'Universal Merchant Bank Limited', { connector: 'none' }),
  bank('ZEN', 'Zenith Bank (Ghana) Limited', { 'ussd-code': '*966#' }),
]

/** Returns a provider with a fee of 1.5 % and a settlement account at GCB. */
const provider = (
  id: string,
  name: string,
  account: string,
  more: Partial<OptionsOf<'provider', 'create'>> = {},
) =>
  call('provider', 'create', {
    provider: id,
    name,
    'fee-basis-points': '150',
    'settlement-bank': 'GCB',
    'settlement-account': account,
    'settlement-name': `${name} Ltd`,
    ...more,
  })

/** The keys of providers and the tokens of banks. */
export const credentials = [
  { kind: 'provider', holder: 'demo', token: 'sk_sandbox_demo', caller: 'a provider' },
  { kind: 'provider', holder: 'other', token: 'sk_sandbox_other', caller: 'a second provider' },
  {
    kind: 'provider',
    holder: 'signed',
    token: 'sk_sandbox_signed',
    caller: 'a provider that signs its requests with rs_sandbox_signed',
  },
  {
    kind: 'provider',
    holder: 'fenced',
    token: 'sk_sandbox_fenced',
    caller: 'a provider that may call from 203.0.113.0/24 only',
  },
  { kind: 'bank', holder: 'GCB', token: 'bt_sandbox_gcb', caller: 'GCB Bank' },
  { kind: 'bank', holder: 'ECO', token: 'bt_sandbox_eco', caller: 'Ecobank' },
] as const

const account = (phone: string, bank: string, name: string, number: string, status = 'active') =>
  call('customer', 'link', { phone, bank, name, 'account-number': number, status })

const customer = (
  phone: string,
  name: string,
  digits: string,
  outcome: string,
  status: 'active' | 'inactive' = 'active',
) => ({ phone, name, digits, outcome, status })

/** The customers, the last digits of their accounts and the outcome of their debits. */
export const customers = [
  customer('+233241234567', 'Ama Mensah', '1001', 'completed'),
  customer('+233241111111', 'Kofi Owusu', '1002', 'failed: insufficient_funds'),
  customer('+233242222222', 'Esi Boateng', '1003', 'failed: timeout; never accepted'),
  customer('+233243333333', 'Yaw Asante', '1004', 'failed: transaction_declined'),
  customer('+233244444444', 'Abena Osei', '1005', 'accepted, never reported; fails at its timeout'),
  customer('+233240000001', 'Kwame Darko', '2001', 'failed: invalid_account', 'inactive'),
] as const

/** The calls in order: a later one refers to objects of earlier ones. */
export const seeds = [
  ...banks,
  provider('demo', 'Demo Payments', '1041009001'),
  provider('other', 'Other Payments', '1041009002'),
  provider('signed', 'Signed Payments', '1041009003', { 'request-secret': 'rs_sandbox_signed' }),
  provider('fenced', 'Fenced Payments', '1041009004', { 'allow-list': '203.0.113.0/24' }),
  ...credentials.map(({ kind, holder, token }) =>
    call('credential', 'issue', { [kind]: holder, token }),
  ),
  ...customers.flatMap(({ phone, name, digits, status }) => {
    const atGcb = account(phone, 'GCB', name, `104100${digits}`, status)
    return status === 'active' ? [atGcb, account(phone, 'ECO', name, `244100${digits}`)] : [atGcb]
  }),
]

export const seed = async (functions: Pick<FunctionHost, 'invoke'>): Promise<void> => {
  for (const { noun, verb, options } of seeds) {
    const reply = await functions.invoke(`manage-${noun}`, { verb, options })
    const { error } = reply as { error?: string }
    if (error) throw new Error(`Seed ${noun} ${verb}: ${error}`)
  }
}
