import { expect, test } from 'vitest'
import { SILENT } from '../support/requests.ts'
import { type Shown, testInProcess, useService } from '../support/running-service.ts'
import { aroundTableCalls } from '../support/table-calls.ts'

/** Requests for the erasure of a customer, and other requests about the customer. */

const service = useService({ timeScale: 60, approvals: true })
const { call, refusal } = service
const [ama, kofi] = ['local:ama', 'local:kofi']

const phone = '+233247777779'
const name = 'CanaryRequestedZq'
const account = { phone, bank: 'GCB', name, 'account-number': '9990001112224' }
const ERASE = { phone, reason: 'Request 8' }

const request = async (verb: string, options: Record<string, string>): Promise<string> =>
  (await call('customer', verb, options, ama)).approval.id
const grant = (id: string): Promise<Shown> => call('approval', 'grant', { id }, kofi)

const rawText = async (): Promise<string> => JSON.stringify(await service.items())

test('an erasure needs a second operator, and no request keeps the number or the name', async () => {
  await grant(await request('link', account))
  const erasure = await request('erase', ERASE)
  expect(await call('approval', 'show', { id: erasure })).toMatchObject({ options: ERASE })
  const late = await request('link', { ...account, bank: 'ECO' })
  const rows = JSON.stringify([[phone, name, '9990001112225']])
  const { bulk } = await call('customer', 'upload', { bank: 'ADB', n: '0', rows }, ama)
  const imported = await request('import', { bank: 'ADB', file: 'many.csv', bulk })
  const open = await refusal('approval', 'grant', { id: erasure }, kofi)
  expect(open).toContain(`request ${late} is open`)
  expect(open).toContain(`request ${imported} is open`)
  for (const id of [late, imported]) await call('approval', 'deny', { id }, kofi)
  expect(await rawText()).toContain(name)
  const repeated = await request('erase', ERASE)
  expect(await grant(repeated)).toEqual({ erased: 0, later: 0, last_on: null })
  for (const text of [phone.slice(4), name, '999000111222']) {
    expect(await rawText()).not.toContain(text)
  }
  expect(await call('customer', 'list', { phone })).toEqual([])
  const requests: Shown[] = await call('approval', 'list')
  expect(requests.find(({ id }) => id === repeated).target).toMatch(/^[\w-]{22}$/)
})

testInProcess(
  'the sweep continues a granted erasure that ended with a fault, also after a new debit of the customer',
  async () => {
    const charge = () => service.chargeUntil('processing', { phone_number: SILENT })
    const { uuid, reference } = await charge()
    const failed = { status: 'failed', bank_reference: 'GCB-1', error_message: 'No' }
    await service.report(uuid, failed, 'bt_sandbox_gcb')
    const id = await request('erase', { ...ERASE, phone: SILENT })
    const restore = aroundTableCalls((_, next, text) =>
      text().includes('erasedAt') ? Promise.reject(new Error('lost')) : next(),
    )
    await expect(grant(id).finally(restore)).rejects.toThrow('manage-customer')
    await charge()
    expect(await refusal('approval', 'grant', { id }, kofi)).toContain('the call was already made')
    const shown = await call('approval', 'show', { id })
    expect(shown).toMatchObject({ done_at: expect.stringMatching(/Z$/), refusal: null })
    const isErased = async () => {
      const items = await service.items()
      return items.some(({ pk, erasedAt }) => pk === `DEBIT#${reference}` && erasedAt)
    }
    expect(await isErased()).toBe(false)
    await service.runJob('sweep', {}, 120)
    expect(await isErased()).toBe(true)
  },
)
