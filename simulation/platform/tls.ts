import { open, type Socket } from './net.ts'

/** In place of TLS: the same, and its peer may have no certificate that is trusted. */
export const connect = (options: Parameters<typeof open>[0]): Socket => open(options, true)
