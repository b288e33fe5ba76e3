import { runService } from '#shared/runtime/service.ts'
import { createLineBot } from './app.ts'

await runService(createLineBot, { isBot: true })
