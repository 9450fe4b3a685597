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

const providerKey = (id: string) =>
  call('credential', 'issue', { provider: id, token: `sk_sandbox_${id}` })

const bankToken = (identifier: string) =>
  call('credential', 'issue', { bank: identifier, token: `bt_sandbox_${identifier.toLowerCase()}` })

const account = (phone: string, bank: string, name: string, number: string, status = 'active') =>
  call('customer', 'link', { phone, bank, name, 'account-number': number, status })

/** Phone, name, and the last digits of the accounts at GCB and ECO. */
const customers = [
  ['+233241234567', 'Ama Mensah', '1001'],
  ['+233241111111', 'Kofi Owusu', '1002'],
  ['+233242222222', 'Esi Boateng', '1003'],
  ['+233243333333', 'Yaw Asante', '1004'],
  ['+233244444444', 'Abena Osei', '1005'],
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
    ...['demo', 'other', 'signed', 'fenced'].map(providerKey),
    ...['GCB', 'ECO'].map(bankToken),
    ...customers.flatMap(([phone, name, digits]) => [
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
