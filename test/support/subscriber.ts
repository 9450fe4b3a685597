import { createProvider } from './provider.ts'
import { type Answer, type Received, useReceiver } from './receiver.ts'
import { deliveriesPath, redeliverPath } from './requests.ts'
import type { Service, Shown } from './running-service.ts'

/** Providers with webhooks at one receiver, each with its own path. */

export type Subscriber = Awaited<ReturnType<ReturnType<typeof useSubscribers>['create']>>

export const CREATED = { events: 'transaction.created' }
export const ONCE = { ...CREATED, 'max-attempts': '1' }

export const useSubscribers = (service: Service) => {
  const receiver = useReceiver()
  const answers = new Map<string, Answer>()
  receiver.otherwise = ({ path }) => answers.get(path) ?? 204

  /** Creates a provider without a webhook. */
  const create = async (id: string) => {
    const provider = await createProvider(service, id)
    const path = `/${id}`
    return {
      provider,
      /** Adds the next responses, before those of `respond`. */
      script: (...next: Answer[]) => receiver.script(path, ...next),
      respond: (answer: Answer) => answers.set(path, answer),
      set: (settings = {}) => provider.webhook('set', { url: receiver.url(path), ...settings }),
      arrived: () => receiver.received.filter((request) => request.path === path),
      /** Creates a debit and waits for the status of its first event. */
      debit: async (status: string): Promise<{ reference: string; record: Shown }> => {
        const reference = await provider.charge()
        return { reference, record: await provider.delivery(reference, 'created', status) }
      },
      /** Returns the last event of a debit that fails at once. */
      lastEvent: async (): Promise<Received> =>
        (await receiver.events(await provider.charge(), 3)).at(-1) as Received,
      listed: async (reference: string): Promise<Shown[]> =>
        (await provider.get(deliveriesPath(reference))).body.data,
      redeliver: (of: unknown) => provider.send('POST', redeliverPath(of)),
    }
  }

  const subscribe = async (id: string, settings = {}) => {
    const created = await create(id)
    await created.set(settings)
    return created
  }

  return { receiver, create, subscribe }
}
