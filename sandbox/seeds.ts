import type { FunctionHost } from './function-host.ts'

/** Creates the demo providers, banks and customers of a new sandbox with operator functions. */

type SeedOptions = Record<string, string>

const call = (noun: string, verb: string, options: SeedOptions) => ({ noun, verb, options })

const bank = (identifier: string, name: string, more: SeedOptions = {}) =>
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
const provider = (id: string, name: string, account: string, more: SeedOptions = {}) =>
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
  { kind: 'provider', holder: 'demo', token: 'sk_sandbox_demo', caller: 'provider' },
  { kind: 'provider', holder: 'other', token: 'sk_sandbox_other', caller: 'a second provider' },
  {
    kind: 'provider',
    holder: 'signed',
    token: 'sk_sandbox_signed',
    caller: 'provider that signs its requests with rs_sandbox_signed',
  },
  {
    kind: 'provider',
    holder: 'fenced',
    token: 'sk_sandbox_fenced',
    caller: 'provider that may call from 203.0.113.0/24 only',
  },
  { kind: 'bank', holder: 'GCB', token: 'bt_sandbox_gcb', caller: 'GCB Bank' },
  { kind: 'bank', holder: 'ECO', token: 'bt_sandbox_eco', caller: 'Ecobank' },
] as const

const account = (phone: string, bank: string, name: string, number: string, status = 'active') =>
  call('customer', 'link', { phone, bank, name, 'account-number': number, status })

/** The customers with accounts at GCB and ECO, which end with `digits`, and the outcome of their debits. */
export const customers = [
  { phone: '+233241234567', name: 'Ama Mensah', digits: '1001', outcome: 'completed' },
  {
    phone: '+233241111111',
    name: 'Kofi Owusu',
    digits: '1002',
    outcome: 'failed: insufficient_funds',
  },
  {
    phone: '+233242222222',
    name: 'Esi Boateng',
    digits: '1003',
    outcome: 'failed: timeout; never accepted',
  },
  {
    phone: '+233243333333',
    name: 'Yaw Asante',
    digits: '1004',
    outcome: 'failed: transaction_declined',
  },
  {
    phone: '+233244444444',
    name: 'Abena Osei',
    digits: '1005',
    outcome: 'accepted, never reported; fails at its timeout',
  },
] as const

/** Groups of calls; a later group refers to objects of an earlier one. */
export const seeds = [
  banks,
  [
    provider('demo', 'Demo Payments', '1041009001'),
    provider('other', 'Other Payments', '1041009002'),
    provider('signed', 'Signed Payments', '1041009003', { 'request-secret': 'rs_sandbox_signed' }),
    provider('fenced', 'Fenced Payments', '1041009004', { 'allow-list': '203.0.113.0/24' }),
  ],
  [
    ...credentials.map(({ kind, holder, token }) =>
      call('credential', 'issue', { [kind]: holder, token }),
    ),
    ...customers.flatMap(({ phone, name, digits }) => [
      account(phone, 'GCB', name, `104100${digits}`),
      account(phone, 'ECO', name, `244100${digits}`),
    ]),
    account('+233240000001', 'GCB', 'Kwame Darko', '1041002001', 'inactive'),
  ],
]

export const seed = async (functions: FunctionHost): Promise<void> => {
  for (const group of seeds) {
    await Promise.all(
      group.map(async ({ noun, verb, options }) => {
        const reply = await functions.invoke(`manage-${noun}`, { verb, options })
        const { error } = reply as { error?: string }
        if (error) throw new Error(`Seed ${noun} ${verb}: ${error}`)
      }),
    )
  }
}
