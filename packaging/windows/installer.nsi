; Windows: an installer for one person, without administrator rights. Compiled by build.py:
;   makensis -DVERSION=0.1.0 -DBUNDLE=folder-of-the-program -DICON=layadesk.ico -DLICENSE=LICENSE -DOUT=setup.exe installer.nsi
Unicode true
!include MUI2.nsh
!include FileFunc.nsh
!include LogicLib.nsh

!define NAME "LayaDesk"
!define EXE "layadesk.exe"
!define CLASS "LayaDesk.gguf"
!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\${NAME}"

Name "${NAME} ${VERSION}"
OutFile "${OUT}"
RequestExecutionLevel user
InstallDir "$LOCALAPPDATA\Programs\${NAME}"
InstallDirRegKey HKCU "Software\${NAME}" "InstallDir"
SetCompressor /SOLID lzma
SetCompressorDictSize 64
ManifestDPIAware true
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "${NAME}"
VIAddVersionKey "FileDescription" "${NAME} Setup"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "LegalCopyright" "The LayaDesk authors"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_RUN "$INSTDIR\${EXE}"
!insertmacro MUI_PAGE_LICENSE "${LICENSE}"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"

LangString RUNNING ${LANG_ENGLISH} "LayaDesk is running. Close it, then try again."
LangString RUNNING ${LANG_SIMPCHINESE} "LayaDesk 正在运行。请先关闭它，然后重试。"
LangString FORGET ${LANG_ENGLISH} "Delete your chats, settings and downloaded models as well?$\n$\n$LOCALAPPDATA\LayaDesk$\n$\nNo keeps them for the next installation."
LangString FORGET ${LANG_SIMPCHINESE} "是否同时删除你的聊天记录、设置和已下载的模型？$\n$\n$LOCALAPPDATA\LayaDesk$\n$\n选择“否”将保留它们，供下次安装使用。"
LangString TYPE ${LANG_ENGLISH} "GGUF language model"
LangString TYPE ${LANG_SIMPCHINESE} "GGUF 语言模型"

; A program that runs cannot be overwritten: its file cannot be opened for writing.
!macro WAIT_UNTIL_CLOSED
  ${Do}
    ClearErrors
    ${IfNot} ${FileExists} "$INSTDIR\${EXE}"
      ${ExitDo}
    ${EndIf}
    FileOpen $0 "$INSTDIR\${EXE}" a
    ${IfNot} ${Errors}
      FileClose $0
      ${ExitDo}
    ${EndIf}
    MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$(RUNNING)" /SD IDCANCEL IDRETRY +2
    Abort
  ${Loop}
!macroend

!macro REMOVE_PROGRAM
  Delete "$INSTDIR\${EXE}"
  RMDir /r "$INSTDIR\_internal" ; never all of $INSTDIR: whoever installs into a folder with other things keeps them
!macroend

Function .onInit
  !insertmacro MUI_LANGDLL_DISPLAY
FunctionEnd

Function un.onInit
  !insertmacro MUI_UNGETLANGUAGE
FunctionEnd

Section "program"
  !insertmacro WAIT_UNTIL_CLOSED
  !insertmacro REMOVE_PROGRAM ; files of an older version must not stay
  SetOutPath "$INSTDIR"
  File /r "${BUNDLE}/*.*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortCut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\${EXE}"

  ; Offered under "Open with"; what opens .gguf by default stays the user's choice.
  WriteRegStr HKCU "Software\Classes\${CLASS}" "" "$(TYPE)"
  WriteRegStr HKCU "Software\Classes\${CLASS}\DefaultIcon" "" "$INSTDIR\${EXE},0"
  WriteRegStr HKCU "Software\Classes\${CLASS}\shell\open\command" "" '"$INSTDIR\${EXE}" "%1"'
  WriteRegStr HKCU "Software\Classes\.gguf\OpenWithProgids" "${CLASS}" ""
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'

  WriteRegStr HKCU "Software\${NAME}" "InstallDir" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\${EXE}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "The LayaDesk authors"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" $0
SectionEnd

Section "Uninstall"
  !insertmacro WAIT_UNTIL_CLOSED
  !insertmacro REMOVE_PROGRAM
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\${NAME}.lnk"
  DeleteRegKey HKCU "Software\Classes\${CLASS}"
  DeleteRegValue HKCU "Software\Classes\.gguf\OpenWithProgids" "${CLASS}"
  DeleteRegKey HKCU "Software\${NAME}"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
  MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "$(FORGET)" /SD IDNO IDNO keep
  RMDir /r "$LOCALAPPDATA\${NAME}"
  keep:
SectionEnd
