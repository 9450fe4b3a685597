import { InvocationFailure, invokeFunction } from '../functions-client.ts'

type WebhookSettings = { url: string; secret: string; events: readonly string[] | null }

const call = async (port: number, verb: string, options: Record<string, string>) => {
  const reply = await invokeFunction({ port }, 'manage-webhook', { verb, options })
  return reply as { result: WebhookSettings } | { error: string }
}

/**
 * Directs the webhook of a provider in a sandbox to a URL. It keeps its secret.
 * @param events the only events to send; undefined: as before
 * @returns the secret, and a function that restores the earlier setting
 * @throws InvocationFailure with one line
 */
export const register = async (
  port: number,
  {
    provider,
    url,
    events,
  }: { provider: string; url: string; events: readonly string[] | undefined },
) => {
  const set = async (options: Record<string, string>): Promise<WebhookSettings> => {
    const reply = await call(port, 'set', { provider, ...options })
    if ('error' in reply) throw new InvocationFailure(reply.error)
    return reply.result
  }
  const earlier = await call(port, 'show', { provider })
  const { secret } = await set({ url, ...(events && { events: events.join() }) })
  return {
    secret,
    restore: async (): Promise<void> => {
      if ('error' in earlier) await call(port, 'remove', { provider })
      else await set({ url: earlier.result.url, events: earlier.result.events?.join() ?? 'none' })
    },
  }
}
