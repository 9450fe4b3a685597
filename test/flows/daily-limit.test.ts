import { expect, test } from 'vitest'
import { createProvider } from '../support/provider.ts'
import { CHARGE, chargeBody, type Shown, SILENT, useService } from '../support/running-service.ts'

/** A daily limit that an operator removes and sets again. */

const service = useService()

test.each([
  ['limit', 'remove', {}],
  ['limit', 'set', { 'daily-limit': 'none' }],
  ['provider', 'update', { 'daily-limit': 'none' }],
])(
  'charges after %s %s %o count towards the next limit of the day',
  async (noun, verb, options) => {
    const provider = `limit-${noun}-${verb}`
    const { credential } = await createProvider(service, provider, { 'daily-limit': '300.00' })
    const charge = async (amount: string) => {
      const body = chargeBody({ phone_number: SILENT, amount })
      const { status, body: reply } = await service.send('POST', CHARGE, { credential, body })
      return status === 202 ? reply.data.reference : reply.error.code
    }
    const used = async () => (await service.call('limit', 'show', { provider })).used
    expect(await charge('100.00')).toMatch(/^DCS-/)
    await service.call(noun, verb, { provider, ...options })
    expect(await used()).toBeNull()
    expect(await charge('150.00')).toMatch(/^DCS-/)
    await service.call('limit', 'set', { provider, 'daily-limit': '300.00' })
    expect(await used()).toBe('250.00')
    const date = new Date().toISOString().slice(0, 10)
    const { invariants } = await service.call('reconciliation', 'run', { date })
    const total = invariants.find(({ number }: Shown) => number === 20)
    const examples = total.examples.filter((example: Shown) => example.provider === provider)
    expect(examples).toEqual([])
  },
)
