import type { ProviderId, RequestSigning } from '../../domain/providers/provider.ts'
import type { Runtime } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'

/**
 * The secrets of providers that sign their requests (docs/api.md#request-signing), sealed in the item
 * of the provider. The client of the sealing key is a separate bundle file, loaded on first use.
 */

const sealing = () => import('../sealing.ts')

export const sealRequestSecret = async (
  id: ProviderId,
  secret: string,
  runtime: Pick<Runtime, 'randomBytes'>,
): Promise<string> => (await sealing()).seal(secret, { kind: 'requestSigning', id }, runtime)

const opened = ttlCache<string>(10_000)

/** Opens the secrets that are accepted at this time, the newest first, without unreadable ones. */
export const openRequestSecrets = async (
  id: ProviderId,
  { secret, previous }: RequestSigning,
  now: Date,
): Promise<string[]> => {
  const isAccepted = previous && now < new Date(previous.until)
  const sealed = isAccepted ? [secret, previous.secret] : [secret]
  const secrets = await Promise.all(sealed.map((text) => openRequestSecret(id, text, now)))
  return secrets.filter((secret) => secret !== '')
}

/** @returns an empty text if the secret cannot be opened */
export const openRequestSecret = (id: ProviderId, sealed: string, now: Date): Promise<string> =>
  opened(
    sealed,
    now,
    async () => (await (await sealing()).unseal(sealed, { kind: 'requestSigning', id })) ?? '',
  )
