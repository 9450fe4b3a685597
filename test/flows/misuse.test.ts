import { beforeAll, expect, test } from 'vitest'
import { unusualUses } from '../../shared/domain/providers/daily-use.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { dayAfter, dayOf } from '../../shared/domain/time.ts'
import { keys } from '../../shared/store/keys.ts'
import { put, read, remove } from '../../shared/store/table.ts'
import { eventually } from '../support/eventually.ts'
import { captureOutput } from '../support/output.ts'
import { createProvider } from '../support/provider.ts'
import { FAILS_AT_ONCE } from '../support/requests.ts'
import { type Shown, testInProcess, useService } from '../support/running-service.ts'

/** The use of a provider's key, compared with its own last weeks (docs/operations.md#a-providers-key-is-misused). */

process.env.AWS_LAMBDA_LOG_LEVEL = 'WARN'
const service = useService()
// The sandbox disables metrics at its start.
beforeAll(() => void Object.assign(process.env, { METRICS_DISABLED: 'false' }))
const { lines, clear } = captureOutput()

const BANKS = '/api/v1/payment-providers/banks'
const today = dayOf(new Date())

const createBusy = async (id: string) => {
  const provider = await createProvider(service, id, { 'daily-limit': '50000.00' })
  for (const operation of ['charge', 'lookup-customer-banks']) {
    await service.call('limit', 'set', { provider: id, operation, 'per-minute': '10000' })
  }
  const lookup = (count: number, phone = FAILS_AT_ONCE) =>
    Promise.all(Array.from({ length: count }, () => provider.get(`${BANKS}/lookup/${phone}`)))
  return { ...provider, key: id as ProviderId, lookup }
}

/** Runs a sweep that is the first in its ten minutes, and returns its lines about a provider. */
const logged = async (id: string, text: string) => {
  clear()
  await remove(keys.sweep, {})
  await service.runJob('sweep')
  return lines().filter(({ message, provider }) => message === text && provider === id)
}

const findings = async (id: string) =>
  (await logged(id, 'use is unusual')).map(({ use, count, busiest, remedy, UnusualUse, _aws }) => {
    const { Dimensions } = _aws.CloudWatchMetrics[0]
    return { use, count, busiest, remedy, UnusualUse, Dimensions }
  })

testInProcess(
  'the fiftieth lookup of a day without a result raises the alarm, whose log line names provider and remedy',
  async () => {
    const { id, lookup } = await createBusy('guessing')
    await lookup(49)
    await lookup(9, '+233241234567')
    expect(await findings(id)).toEqual([])
    await lookup(1)
    const remedy = expect.stringContaining('operator provider disable --provider guessing')
    const finding = { use: 'unknownNumbers', count: 50, busiest: 0, remedy }
    const metric = { UnusualUse: 1, Dimensions: [['service']] }
    expect(await findings(id)).toEqual([{ ...finding, ...metric }])
  },
)

testInProcess('the lookups of a day raise no alarm up to three times an earlier day', async () => {
  const { id, key, lookup } = await createBusy('usual')
  await put(keys.unknownNumbers(key, dayAfter(today, -27)), 'count', { unknownNumbers: 20 })
  await lookup(55)
  expect(await findings(id)).toEqual([])
})

testInProcess(
  'the writes of a charge and of a failure count both, and invalid accounts raise the alarm',
  async () => {
    const { id, key, charge } = await createBusy('stolen')
    await Promise.all(Array.from({ length: 20 }, () => charge()))
    const counted = { amountTotal: 0, charges: 20, invalidAccounts: 20 }
    await eventually(async () =>
      expect(await read(keys.dayTotal(key, today))).toMatchObject(counted),
    )
    expect(await findings(id)).toMatchObject([{ use: 'invalidAccounts', count: 20 }])
  },
)

test('a use is unusual above three times the busiest earlier day', () => {
  const earlier = [{ charges: 400 }, { charges: 1_000, unknownNumbers: 30 }, {}]
  expect(unusualUses({ charges: 3_000, unknownNumbers: 90 }, earlier)).toEqual([])
  expect(unusualUses({ charges: 3_001, unknownNumbers: 91 }, earlier)).toEqual([
    { use: 'charges', count: 3_001, busiest: 1_000 },
    { use: 'unknownNumbers', count: 91, busiest: 30 },
  ])
  expect(unusualUses({ charges: 499, invalidAccounts: 19, unknownNumbers: 49 }, [])).toEqual([])
  expect(unusualUses({ charges: 500 }, [])).toEqual([{ use: 'charges', count: 500, busiest: 0 }])
})

testInProcess(
  'the prompts that customers decline or let time out raise an alarm, whose log line names provider and remedy',
  async () => {
    const { id, key } = await createBusy('unwanted')
    const alarmsOf = async (unwantedPrompts: number) => {
      const others = { amountTotal: 0, charges: 60, invalidAccounts: 10, refusedPrompts: 11 }
      await put(keys.dayTotal(key, today), 'count', { ...others, unwantedPrompts })
      return logged(id, 'prompts are unwanted')
    }
    expect(await alarmsOf(19)).toEqual([])
    const remedy = expect.stringContaining('operator provider disable --provider unwanted')
    const line = { prompts: 39, unwanted: 20, remedy, UnwantedPrompts: 1 }
    expect(await alarmsOf(20)).toMatchObject([line])
  },
)

testInProcess('the write of a failure counts a prompt that the customer declined', async () => {
  const { key, credential } = await createBusy('declining')
  const declined = { phone_number: '+233243333333', bank_identifier: 'GCB' }
  const { reference, uuid } = await service.charge(declined, credential)
  await service.until(reference, 'processing')
  const report = { status: 'failed', bank_reference: 'GCB-1', error_message: 'Declined' }
  await service.report(uuid, report)
  const { unwantedPrompts, refusedPrompts } = (await read(keys.dayTotal(key, today))) as Shown
  expect({ unwantedPrompts, refusedPrompts }).toEqual({ unwantedPrompts: 1, refusedPrompts: 0 })
})
