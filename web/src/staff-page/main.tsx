import '../design/tokens.css'
import '../design/base.css'
import './staff-page.css'
import './ui/ui.css'
import './stock/stock.css'
import { applyTheme } from '../design/theme.ts'
import { renderPage } from '../shared/render-page.ts'
import { resumeSession } from './session/signed-in.ts'
import { App } from './shell/app.tsx'
import { followNavigation } from './ui/navigation.ts'

applyTheme()
followNavigation()
resumeSession()
renderPage(<App />)
