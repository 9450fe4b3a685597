import { expect, test } from 'vitest'
import { createProvider, printed } from '../support/provider.ts'
import { CHARGE, chargeBody, useService } from '../support/running-service.ts'

/** Tests a daily limit that an operator removes and sets again. */

const service = useService()

/** Accepted by the bank, then silent. */
const SILENT = '+233244444444'

test.each([
  ['limit', 'remove', {}],
  ['limit', 'set', { 'daily-limit': 'none' }],
  ['provider', 'update', { 'daily-limit': 'none' }],
])('what is charged between %s %s %o and the next limit of the day counts', async (...given) => {
  const [noun, verb, options] = given as [string, string, Record<string, string>]
  const provider = `limit-${noun}-${verb}`
  const { credential } = await createProvider(service, provider, { 'daily-limit': '300.00' })
  const charge = async (amount: string) => {
    const body = chargeBody({ phone_number: SILENT, amount })
    const { status, body: reply } = await service.send('POST', CHARGE, { credential, body })
    return status === 202 ? reply.data.reference : reply.error.code
  }
  const used = async () => printed(await service.operate('limit', 'show', { provider })).used
  expect(await charge('100.00')).toMatch(/^DCS-/)
  printed(await service.operate(noun, verb, { provider, ...options }))
  expect(await used()).toBeNull()
  expect(await charge('150.00')).toMatch(/^DCS-/)
  printed(await service.operate('limit', 'set', { provider, 'daily-limit': '300.00' }))
  expect(await used()).toBe('250.00')
  const date = new Date().toISOString().slice(0, 10)
  const { invariants } = printed(await service.operate('reconciliation', 'run', { date }))
  const total = invariants.find((one: { number: number }) => one.number === 20)
  expect(total.examples.filter((one: { provider: string }) => one.provider === provider)).toEqual(
    [],
  )
})
