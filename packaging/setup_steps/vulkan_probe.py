"""Prints the name of each Vulkan device that is not a software renderer, one a line. Run as a process of its own.

Asks the Vulkan loader by ctypes, so that no SDK and no `vulkaninfo` is needed. Struct layouts: Vulkan 1.0,
VkInstanceCreateInfo and VkPhysicalDeviceProperties (the fifth 32-bit word is the device type, then comes the name).
"""

import ctypes
import sys

_STRUCTURE_TYPE_INSTANCE_CREATE_INFO = 1
_DEVICE_TYPE_CPU = 4
_PROPERTIES_BYTES = 4096  # the real struct has 824; roomy, as it only grew through extensions
_NAME_OFFSET, _NAME_BYTES = 20, 256


class _InstanceCreateInfo(ctypes.Structure):
    _fields_ = [
        ("sType", ctypes.c_int),
        ("pNext", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("pApplicationInfo", ctypes.c_void_p),
        ("enabledLayerCount", ctypes.c_uint32),
        ("ppEnabledLayerNames", ctypes.c_void_p),
        ("enabledExtensionCount", ctypes.c_uint32),
        ("ppEnabledExtensionNames", ctypes.c_void_p),
    ]


def read_properties(raw: bytes) -> str | None:
    """The device's name in a VkPhysicalDeviceProperties, or None for a software renderer."""
    if int.from_bytes(raw[16:20], sys.byteorder) == _DEVICE_TYPE_CPU:
        return None
    return raw[_NAME_OFFSET : _NAME_OFFSET + _NAME_BYTES].partition(b"\0")[0].decode("utf-8", "replace")


def device_names() -> list[str]:
    """Raises OSError where there is no Vulkan loader."""
    vulkan = ctypes.CDLL("vulkan-1.dll" if sys.platform == "win32" else "libvulkan.so.1")
    instance = ctypes.c_void_p()
    create = _InstanceCreateInfo(sType=_STRUCTURE_TYPE_INSTANCE_CREATE_INFO)
    if vulkan.vkCreateInstance(ctypes.byref(create), None, ctypes.byref(instance)) != 0:
        return []
    count = ctypes.c_uint32(0)
    if vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None) != 0 or not count.value:
        return []
    devices = (ctypes.c_void_p * count.value)()
    vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), devices)
    names = []
    for device in devices:
        properties = ctypes.create_string_buffer(_PROPERTIES_BYTES)
        vulkan.vkGetPhysicalDeviceProperties(ctypes.c_void_p(device), properties)
        names.append(read_properties(properties.raw))
    return [name for name in names if name]


if __name__ == "__main__":
    try:
        print("\n".join(device_names()))
    except OSError:
        sys.exit(0)
