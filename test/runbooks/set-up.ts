import { createServer } from 'node:http'
import { expect } from 'vitest'
import { type BankServerOptions, bankServer } from '../../sdk/typescript/src/bank-server.ts'
import type { Service, Shown } from '../support/running-service.ts'
import { useServer } from '../support/servers.ts'
import type { Runbook } from './runbook.ts'

/** A bank and a provider that the commands of a page create. */

/** Serves a bank whose connector secret is known once the page has created it. */
export const useNewBank = () => {
  const submitted: string[] = []
  let server: ReturnType<typeof bankServer> | undefined
  const onSubmission: BankServerOptions['onSubmission'] = ({ uuid }) => {
    submitted.push(uuid)
    return { status: 'accepted', bankReference: `NEW-${uuid.slice(0, 8)}` }
  }
  const address = useServer(
    createServer((request, response) => void server?.node(request, response)),
  )
  return {
    url: () => `${address()}/debits`,
    submitted,
    useSecret: (secret: string) => {
      server = bankServer({
        ...{ secret, onSubmission },
        onPayout: ({ uuid }) => ({ status: 'paid', bankReference: `NEW-${uuid.slice(0, 8)}` }),
      })
    },
  }
}

type Deps = {
  runbook: Runbook
  bank: ReturnType<typeof useNewBank>
  /** Returns the result of a call, once a second operator has granted it. */
  granted: (result: Shown) => Promise<Shown>
  webhook: string
}

/** Runs the five commands that both pages begin with, and returns the issued tokens and secrets. */
export const setUp = async ({ runbook: { run, values }, bank, granted, webhook }: Deps) => {
  Object.assign(values, { GCB: 'NEWB', acme: 'newcomer' })
  values['https://debits.gcb.example'] = bank.url()
  values['https://acme.example/webhooks'] = webhook
  /** Runs a command whose result, perhaps after a grant, has a member. */
  const next = async (start: string, member: string): Promise<Shown> => {
    const result = await granted(await run(start, expect.any(Object)))
    expect(result).toHaveProperty(member)
    return result
  }
  bank.useSecret((await next('bank create', 'connector_secret')).connector_secret)
  const bankToken: string = (await next('credential issue', 'token')).token
  // The bank that receives payouts may be another one.
  const provider = await next('provider create', 'settlement_account')
  const credential: string = (await next('credential issue', 'token')).token
  const { secret }: { secret: string } = await next('webhook set', 'secret')
  return { bankToken, provider, credential, secret }
}

type SetUp = Awaited<ReturnType<typeof setUp>>

/** Charges a customer of the new bank, and returns the reference once the bank has reported it. */
export const chargeThere = async (
  service: Service,
  { credential, bankToken }: SetUp,
  submitted: readonly string[],
): Promise<string> => {
  const fields = { bank_identifier: 'NEWB', phone_number: '+233241234567', amount: '12.00' }
  const { reference, uuid } = await service.chargeUntil('processing', fields, credential)
  if (!submitted.includes(uuid)) throw new Error(`The bank has no submission of ${reference}`)
  await service.report(uuid, { status: 'completed', bank_reference: 'NEWB-1' }, bankToken)
  await service.until(reference, 'completed')
  return reference
}
