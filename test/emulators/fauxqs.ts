import { buildApp } from 'fauxqs'

/** SQS and S3 of fauxqs, in this process and at one endpoint. */
export type Fauxqs = { endpoint: string; stop: () => Promise<void> }

export const startFauxqs = async (defaultRegion: string): Promise<Fauxqs> => {
  // The package's own start function would listen on all interfaces.
  const app = buildApp({ logger: false, defaultRegion })
  return {
    endpoint: await app.listen({ port: 0, host: '127.0.0.1' }),
    stop: async () => {
      await app.close()
    },
  }
}
