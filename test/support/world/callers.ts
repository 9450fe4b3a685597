import type { APIGatewayProxyResult } from 'aws-lambda'
import { vi } from 'vitest'
import type { Reference } from '../../../shared/domain/ids.ts'
import { deliveryId } from '../../../shared/domain/webhooks/event.ts'
import type { Runtime } from '../../../shared/runtime.ts'
import { chargeBody, sampleEvent } from '../running-service.ts'
import type { FunctionName } from './functions.ts'

/** Providers, banks and operators: who gets no answer, or a 5xx, asks again. */

const TRIES = 3

type Asked = {
  run: <R>(name: FunctionName, event: unknown) => Promise<R | undefined>
  runtime: Runtime
}

export const callersOf = ({ run, runtime }: Asked) => {
  const ask = async (name: FunctionName, more: object): Promise<APIGatewayProxyResult> => {
    for (let tried = 0; tried < TRIES; tried += 1) {
      const event = { ...(await sampleEvent(name)), ...more }
      const reply = await run<APIGatewayProxyResult>(name, event)
      if (reply && reply.statusCode < 500) return reply
    }
    throw new Error(`${name} does not answer`)
  }

  return {
    /** @param phone_number by default of an account whose bank accepts, and then is silent */
    charge: async (
      phone_number = '+233244444444',
    ): Promise<{ reference: Reference; uuid: string }> => {
      const body = chargeBody({ phone_number, partner_reference: runtime.newId() })
      const reply = await ask('charge', { body: JSON.stringify(body) })
      const { reference, response } = JSON.parse(reply.body).data
      return { reference, uuid: response.uuid }
    },
    /** The bank's report on a debit. */
    report: (uuid: string, members: object): Promise<APIGatewayProxyResult> => {
      const body = JSON.stringify({ bank_reference: 'GCB-0001', ...members })
      return ask('update-debit-transaction', { pathParameters: { uuid }, body })
    },
    /** Asks for one more attempt at event `n` of a debit. */
    redeliver: (reference: Reference, n: number): Promise<APIGatewayProxyResult> =>
      ask('redeliver-event', { pathParameters: { id: String(deliveryId({ reference, n })) } }),
    /** Has all taken up again that was not received since. */
    recover: async (provider: string, since: Date): Promise<void> => {
      const options = { provider, since: since.toISOString() }
      for (let tried = 0; tried < TRIES; tried += 1) {
        // Operators have the clock of this machine.
        vi.useFakeTimers({ now: runtime.now(), toFake: ['Date'] })
        const reply = await run('manage-delivery', { verb: 'recover', options }).catch(() => null)
        vi.useRealTimers()
        if (reply) return
      }
      throw new Error('manage-delivery does not answer')
    },
  }
}
