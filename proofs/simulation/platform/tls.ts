import { open, type Socket } from './net.ts'

/** Replaces `node:tls`. */
export const connect = (options: Parameters<typeof open>[0]): Socket => open(options, true)
