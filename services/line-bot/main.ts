import { runService } from '#shared/service/service.ts'
import { createLineBot } from './app.ts'

await runService(createLineBot, { isBot: true })
