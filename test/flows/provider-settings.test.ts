import { expect, test } from 'vitest'
import { useService } from '../support/running-service.ts'

/** Fee schedules and settlement accounts of providers, as operators set them. */

const service = useService()

let created = 0
const newProvider = async (settings: Record<string, string> = {}) => {
  created += 1
  const provider = `payer-${created}`
  const reply = await service.operate('provider', 'create', {
    provider,
    name: 'Payer',
    ...settings,
  })
  return { provider, reply }
}

const shown = (provider: string) => service.call('provider', 'show', { provider })

const feeSchedule = async (provider: string) => (await shown(provider)).fee_schedule
const account = async (provider: string) => (await shown(provider)).settlement_account

const update = (provider: string, settings: Record<string, string>) =>
  service.operate('provider', 'update', { provider, ...settings })

const GCB = {
  'settlement-bank': 'GCB',
  'settlement-account': '1041009009',
  'settlement-name': 'Payer Ltd',
}
const shownGcb = { bank: 'GCB', account_number: '1041009009', account_name: 'Payer Ltd' }

test('the providers of the sandbox pay a fee of 1.5 % and have accounts at GCB', async () => {
  for (const provider of ['demo', 'other', 'signed', 'fenced']) {
    expect(await shown(provider)).toMatchObject({
      fee_schedule: { basis_points: 150, fixed: '0.00', minimum: null, maximum: null },
      settlement_account: { bank: 'GCB', account_number: expect.stringMatching(/^104100900/) },
    })
  }
})

test('a new provider has no fee schedule and no settlement account by default', async () => {
  const { provider } = await newProvider()
  expect(await shown(provider)).toMatchObject({ fee_schedule: null, settlement_account: null })
})

test('each part of a fee schedule is set and removed separately', async () => {
  const { provider } = await newProvider({ 'fee-basis-points': '150', 'fee-fixed': '0.10' })
  await update(provider, { 'fee-minimum': '0.50', 'fee-maximum': '25.00' })
  const whole = { basis_points: 150, fixed: '0.10', minimum: '0.50', maximum: '25.00' }
  expect(await feeSchedule(provider)).toEqual(whole)
  await update(provider, { name: 'Renamed' })
  expect(await feeSchedule(provider)).toEqual(whole)
  await update(provider, { 'fee-minimum': 'none', 'fee-fixed': 'none' })
  expect(await feeSchedule(provider)).toEqual({ ...whole, fixed: '0.00', minimum: null })
})

test('a fee schedule without any part is removed', async () => {
  const { provider } = await newProvider({ 'fee-fixed': '1.00' })
  expect(await feeSchedule(provider)).toMatchObject({ basis_points: 0, fixed: '1.00' })
  await update(provider, {
    'fee-basis-points': 'none',
    'fee-fixed': 'none',
    'fee-minimum': 'none',
    'fee-maximum': 'none',
  })
  expect(await feeSchedule(provider)).toBeNull()
})

test('a settlement account is set as a whole, kept by other updates, replaced and removed', async () => {
  const { provider } = await newProvider(GCB)
  await update(provider, { name: 'Renamed' })
  expect(await account(provider)).toEqual(shownGcb)
  await update(provider, { ...GCB, 'settlement-bank': 'ECO', 'settlement-account': '2441009009' })
  expect(await account(provider)).toMatchObject({ bank: 'ECO', account_number: '2441009009' })
  await update(provider, { 'settlement-account': 'none' })
  expect(await account(provider)).toBeNull()
})

test('concurrent updates of different settings all take effect', async () => {
  const { provider } = await newProvider(GCB)
  await Promise.all([
    service.operate('provider', 'disable', { provider }),
    service.operate('limit', 'set', { provider, 'daily-limit': '750.00' }),
    update(provider, { name: 'Renamed' }),
    update(provider, { 'fee-basis-points': '150' }),
    update(provider, { 'allow-list': '203.0.113.0/24' }),
    update(provider, { 'settlement-account': 'none' }),
  ])
  expect(await shown(provider)).toMatchObject({
    status: 'suspended',
    daily_limit: '750.00',
    name: 'Renamed',
    fee_schedule: { basis_points: 150 },
    allow_list: ['203.0.113.0/24'],
    settlement_account: null,
  })
})

const refused: [Record<string, string>, string][] = [
  [{ 'fee-basis-points': '10001' }, '--fee-basis-points: must be a whole number from 0 to 10000'],
  [{ 'fee-basis-points': '1.5' }, '--fee-basis-points: must be a whole number from 0 to 10000'],
  [{ 'fee-basis-points': '-1' }, '--fee-basis-points: must be a whole number from 0 to 10000'],
  [{ 'fee-fixed': '0.1' }, '--fee-fixed: must be an amount like 500.00'],
  [{ 'fee-maximum': '-1.00' }, '--fee-maximum: must be an amount like 500.00'],
  [
    { 'fee-minimum': '1.00', 'fee-maximum': '0.99' },
    '--fee-minimum: must not be above the maximum',
  ],
  [
    { 'settlement-bank': 'ECO' },
    '--settlement-account: is required, --settlement-name: is required',
  ],
  [{ ...GCB, 'settlement-account': 'none' }, '--settlement-account: is required'],
  [{ ...GCB, 'settlement-account': '12345' }, '--settlement-account: must be 6 to 20 digits'],
  [{ ...GCB, 'settlement-bank': 'XYZ' }, '--settlement-bank: no such bank'],
  [{ ...GCB, 'settlement-name': ' ' }, '--settlement-name: is required'],
]

test.each(refused)('%o is refused, and nothing changes', async (settings, line) => {
  const { provider } = await newProvider({ ...GCB, 'fee-basis-points': '150' })
  expect(await update(provider, settings)).toEqual({ error: line })
  expect(await newProvider(settings)).toMatchObject({ reply: { error: line } })
  expect(await account(provider)).toEqual(shownGcb)
  expect(await feeSchedule(provider)).toMatchObject({ basis_points: 150, minimum: null })
})
