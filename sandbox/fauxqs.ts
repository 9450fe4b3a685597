import { buildApp } from 'fauxqs'

/** SQS and S3 in this process, at one endpoint. */
export type Fauxqs = { endpoint: string; stop: () => Promise<void> }

export const startFauxqs = async (defaultRegion: string): Promise<Fauxqs> => {
  // Not its own start function: that listens on every interface of the machine.
  const app = buildApp({ logger: false, defaultRegion })
  return {
    endpoint: await app.listen({ port: 0, host: '127.0.0.1' }),
    stop: () => app.close(),
  }
}
